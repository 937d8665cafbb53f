#include "worker/trainer/gradient_encoder.h"

#include <cmath>
#include <string>
#include <utility>

#include "common/codec/encode.h"
#include "common/codec/sparse.h"
#include "common/codec/wire_type.h"

namespace tributary {

std::vector<float>* GradientEncoder::ErrorOf(Step step, int32_t slot) {
  if (!transfer_.error_feedback) return nullptr;
  absl::MutexLock lock(&mutex_);
  SlotError& error = errors_[slot];
  if (error.step != step) error.values.assign(static_cast<size_t>(layout_.elements()), 0.0F);
  error.step = step + 1;
  return &error.values;
}

EncodedVector GradientEncoder::Encode(Step step, int32_t slot, absl::Span<const float> gradient,
                                      BatchStatistics& statistics) {
  std::vector<float>* const error = ErrorOf(step, slot);
  return transfer_.push == WireType::kTopK ? EncodeLargest(gradient, error, statistics)
                                           : EncodeDense(gradient, error, statistics);
}

EncodedVector GradientEncoder::EncodeDense(absl::Span<const float> gradient,
                                           std::vector<float>* error,
                                           BatchStatistics& statistics) const {
  const WireType type = transfer_.push;
  auto encoded = std::make_shared<std::string>(
      static_cast<size_t>(EncodedBytes(type, static_cast<int64_t>(gradient.size()))), '\0');
  const bool feeds_back = error != nullptr && !statistics.not_finite;
  const bool finite = feeds_back
                          ? EncodeWithError(type, gradient, absl::MakeSpan(*error), encoded->data())
                          : tributary::Encode(type, gradient, encoded->data());
  if (!finite) statistics.not_finite = true;
  return EncodedVector::Dense(type, std::move(encoded));
}

EncodedVector GradientEncoder::EncodeLargest(absl::Span<const float> gradient,
                                             std::vector<float>* error,
                                             BatchStatistics& statistics) const {
  std::vector<VectorEntry> entries;
  if (statistics.not_finite) return EncodedVector::Sparse(std::move(entries));
  absl::Span<const float> sum = gradient;
  if (error != nullptr) {
    for (size_t i = 0; i < error->size(); ++i) (*error)[i] += gradient[i];
    sum = *error;
  }
  std::vector<uint32_t> scratch;
  for (const ParameterTensor& tensor : layout_.tensors()) {
    SelectLargest(
        sum.subspan(static_cast<size_t>(tensor.offset), static_cast<size_t>(tensor.elements)),
        TopKCount(tensor.elements, transfer_.top_k_ratio), scratch, [&](int64_t i) {
          const int64_t index = tensor.offset + i;
          const float value = sum[static_cast<size_t>(index)];
          if (!std::isfinite(value)) statistics.not_finite = true;
          entries.push_back({index, value});
          // What is sent is sent whole.
          if (error != nullptr) (*error)[static_cast<size_t>(index)] = 0;
        });
  }
  return EncodedVector::Sparse(std::move(entries));
}

}  // namespace tributary
