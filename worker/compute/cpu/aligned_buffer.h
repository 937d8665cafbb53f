// Memory for one array of fp32, aligned to a cache line, with room after its end that vector loops
// may read and write.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_ALIGNED_BUFFER_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_ALIGNED_BUFFER_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace tributary {

// Elements that exist after the end of every buffer: loops over rows work in whole vectors, and the
// last row's last vector may overhang by less than this.
inline constexpr int64_t kBufferSlack = 64;

class AlignedBuffer {
 public:
  AlignedBuffer() = default;

  // `elements` values, all zero. Errors: RESOURCE_EXHAUSTED with the bytes.
  static absl::StatusOr<AlignedBuffer> Create(int64_t elements) {
    constexpr uint64_t kLine = 64;
    const uint64_t wanted = (static_cast<uint64_t>(elements) + kBufferSlack) * sizeof(float);
    const uint64_t bytes = (wanted + kLine - 1) / kLine * kLine;
    AlignedBuffer buffer;
    buffer.data_.reset(static_cast<float*>(std::aligned_alloc(kLine, bytes)));
    if (buffer.data_ == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for an array of ", bytes, " bytes"));
    }
    std::memset(buffer.data_.get(), 0, bytes);
    return buffer;
  }

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(float* data) const { std::free(data); }
  };
  std::unique_ptr<float[], Free> data_;
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_ALIGNED_BUFFER_H_
