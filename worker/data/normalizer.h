// How a pixel byte becomes a network's input: (b / 255 - mean) / stddev, for each channel.
#ifndef TRIBUTARY_WORKER_DATA_NORMALIZER_H_
#define TRIBUTARY_WORKER_DATA_NORMALIZER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/model/model.h"

namespace tributary {

// The 256 values of a channel are computed once, in double, and rounded to fp32, so that a byte
// becomes the same bits everywhere. Immutable, so thread-safe.
class Normalizer {
 public:
  // `mean` and `stddev` have one number per channel of `shape`.
  Normalizer(const Shape& shape, absl::Span<const double> mean, absl::Span<const double> stddev);

  // One image, [C, H, W], into as many floats at `out`.
  void Apply(absl::Span<const uint8_t> pixels, float* out) const;

 private:
  size_t pixels_per_channel_;
  std::vector<std::array<float, 256>> tables_;  // one per channel
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_NORMALIZER_H_
