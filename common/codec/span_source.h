// fp32 elements in memory as a ValueSource. The memory belongs to the caller.
#ifndef TRIBUTARY_COMMON_CODEC_SPAN_SOURCE_H_
#define TRIBUTARY_COMMON_CODEC_SPAN_SOURCE_H_

#include <cstdint>
#include <cstring>

#include "absl/types/span.h"
#include "common/codec/value_source.h"

namespace tributary {

class SpanSource final : public ValueSource {
 public:
  explicit SpanSource(absl::Span<const float> values) : values_(values) {}

  void CopyTo(int64_t first, absl::Span<float> out) const override {
    if (!out.empty()) std::memcpy(out.data(), values_.data() + first, out.size() * sizeof(float));
  }
  void AddTo(int64_t first, absl::Span<float> sum) const override {
    const float* __restrict values = values_.data() + first;
    float* __restrict out = sum.data();
    for (size_t i = 0; i < sum.size(); ++i) out[i] += values[i];
  }

 private:
  absl::Span<const float> values_;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CODEC_SPAN_SOURCE_H_
