#include "worker/data/normalizer.h"

namespace tributary {

Normalizer::Normalizer(const Shape& shape, absl::Span<const double> mean,
                       absl::Span<const double> stddev)
    : pixels_per_channel_(static_cast<size_t>(shape.height * shape.width)),
      tables_(static_cast<size_t>(shape.channels)) {
  for (size_t channel = 0; channel < tables_.size(); ++channel) {
    for (int byte = 0; byte < 256; ++byte) {
      tables_[channel][static_cast<size_t>(byte)] =
          static_cast<float>((byte / 255.0 - mean[channel]) / stddev[channel]);
    }
  }
}

void Normalizer::Apply(absl::Span<const uint8_t> pixels, float* __restrict out) const {
  const uint8_t* __restrict next = pixels.data();
  for (const std::array<float, 256>& table : tables_) {
    for (size_t i = 0; i < pixels_per_channel_; ++i) out[i] = table[next[i]];
    next += pixels_per_channel_;
    out += pixels_per_channel_;
  }
}

}  // namespace tributary
