// The memory of ready batches, used again and again.
#ifndef TRIBUTARY_WORKER_DATA_BATCH_BUFFERS_H_
#define TRIBUTARY_WORKER_DATA_BATCH_BUFFERS_H_

#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace tributary {

// A cache line, and the widest vector register.
inline constexpr std::align_val_t kBatchAlignment{64};

struct BatchBuffer {
  struct Free {
    void operator()(float* values) const { ::operator delete[](values, kBatchAlignment); }
  };
  std::unique_ptr<float[], Free> images;
  std::vector<int32_t> labels;
};

// Buffers of one size. Thread-safe. A buffer may outlive the pool object's other users: it keeps
// the pool until it comes back.
class BatchBuffers : public std::enable_shared_from_this<BatchBuffers> {
 public:
  // Room for `samples` images of `elements` floats each.
  static std::shared_ptr<BatchBuffers> Create(int64_t samples, int64_t elements);

  // A buffer with whatever was in it last; dropping the last copy of the pointer gives it back.
  std::shared_ptr<BatchBuffer> Take();

 private:
  BatchBuffers(int64_t samples, int64_t elements) : samples_(samples), elements_(elements) {}

  void GiveBack(std::unique_ptr<BatchBuffer> buffer);

  const int64_t samples_;
  const int64_t elements_;
  absl::Mutex mutex_;
  // No more of them than were in use at one time.
  std::vector<std::unique_ptr<BatchBuffer>> free_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_BATCH_BUFFERS_H_
