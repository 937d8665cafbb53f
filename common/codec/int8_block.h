// One block of the int8 type: up to kInt8Block elements under one scale.
//
//   scale = max |x| / 127      byte = x / scale, rounded to nearest even      x ~ scale * byte
//
// Symmetric, as in B. Jacob et al., "Quantization and Training of Neural Networks", 2018, with zero
// point 0. A block whose largest magnitude is below 127 * FLT_MIN is all zeros (scale 0): a scale
// that is not a normal number would have too few bits. A block with a NaN or an infinity has the
// scale NaN, and so has NaN in every element.
#ifndef TRIBUTARY_COMMON_CODEC_INT8_BLOCK_H_
#define TRIBUTARY_COMMON_CODEC_INT8_BLOCK_H_

#include <bit>
#include <cfloat>
#include <cstdint>
#include <cstring>
#include <limits>

#include "common/codec/half.h"

namespace tributary {

// Writes 4 + count bytes; count is 1 to kInt8Block. False if an element is not finite.
inline bool EncodeInt8Block(const float* __restrict values, int64_t count, char* __restrict out) {
  // As integers, magnitudes are in the order of the numbers, and NaN is above infinity.
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(values[i]) & kFloatMagnitude;
    largest = magnitude > largest ? magnitude : largest;
  }
  const bool finite = largest < kFloatInfinity;
  const bool zero = std::bit_cast<float>(largest) < 127 * FLT_MIN;
  const float scale =
      !finite ? std::numeric_limits<float>::quiet_NaN() : std::bit_cast<float>(largest) / 127;
  const float written = finite && zero ? 0 : scale;
  std::memcpy(out, &written, sizeof(written));
  if (!finite || zero) {
    std::memset(out + sizeof(written), 0, static_cast<size_t>(count));
    return finite;
  }
  for (int64_t i = 0; i < count; ++i) {
    // Adding 1.5 * 2^23 rounds to an integer (to nearest even) and leaves it in the low bits.
    constexpr float kShift = 12582912;
    const auto bits = std::bit_cast<uint32_t>(values[i] / scale + kShift);
    out[sizeof(scale) + static_cast<size_t>(i)] = static_cast<char>(bits & 0xff);
  }
  return true;
}

// Calls use(i, value) for the elements of a block.
template <typename Use>
void DecodeInt8Block(const char* block, int64_t count, Use use) {
  float scale;
  std::memcpy(&scale, block, sizeof(scale));
  for (int64_t i = 0; i < count; ++i) {
    use(i, scale * static_cast<float>(
                       static_cast<int8_t>(block[sizeof(scale) + static_cast<size_t>(i)])));
  }
}

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CODEC_INT8_BLOCK_H_
