// fp32 to the two 16-bit types and back, one element, rounding to nearest even. Selections rather
// than branches, so that a loop over them is vectorised for every instruction set.
//
// Formats: IEEE 754-2008 binary16; bfloat16 is the upper half of binary32. A NaN comes out as a
// quiet NaN, what is too large as an infinity. The conversions to fp32 are exact.
#ifndef TRIBUTARY_COMMON_CODEC_HALF_H_
#define TRIBUTARY_COMMON_CODEC_HALF_H_

#include <bit>
#include <cstdint>

namespace tributary {

inline constexpr uint32_t kFloatMagnitude = 0x7fffffff;
inline constexpr uint32_t kFloatInfinity = 0x7f800000;

inline uint16_t FloatToBf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits & kFloatMagnitude) > kFloatInfinity ? nan : rounded);
}

inline float Bf16ToFloat(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

inline uint16_t FloatToFp16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & kFloatMagnitude;
  const uint32_t sign = (bits >> 16) & 0x8000;
  // A normal number: another exponent bias, 13 bits fewer; a carry goes into the exponent and up to
  // infinity.
  const uint32_t normal =
      (magnitude - (uint32_t{112} << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  // Below 2^-14: the addition puts the bits in their places and rounds them, at 2^-24 for each.
  constexpr uint32_t kHalf = 0x3f000000;  // 0.5f
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + std::bit_cast<float>(kHalf)) -
      kHalf;
  const uint32_t special = magnitude > kFloatInfinity ? 0x7e00 : 0x7c00;
  const uint32_t finite = magnitude < (uint32_t{113} << 23) ? subnormal : normal;
  return static_cast<uint16_t>(sign | (magnitude >= (uint32_t{143} << 23) ? special : finite));
}

inline float Fp16ToFloat(uint16_t half) {
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fff) << 13;
  const uint32_t exponent = magnitude & (uint32_t{31} << 23);
  const uint32_t normal = magnitude + (uint32_t{112} << 23);
  const uint32_t special = magnitude + (uint32_t{224} << 23);  // exponent 31 to 255
  // As if it were normal, less the implicit one; exact.
  const auto subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude + (uint32_t{113} << 23)) -
                              std::bit_cast<float>(uint32_t{113} << 23));
  const uint32_t finite = exponent == 0 ? subnormal : normal;
  const uint32_t bits = exponent == (uint32_t{31} << 23) ? special : finite;
  return std::bit_cast<float>(bits | (static_cast<uint32_t>(half & 0x8000) << 16));
}

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CODEC_HALF_H_
