#include "common/codec/encode.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "common/codec/decode.h"
#include "common/codec/half.h"
#include "common/codec/int8_block.h"

namespace tributary {
namespace {

bool EncodeFp32(const float* __restrict values, char* __restrict out, int64_t count) {
  uint32_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<uint32_t>(values[i]);
    const uint32_t magnitude = bits & kFloatMagnitude;
    largest = magnitude > largest ? magnitude : largest;
    std::memcpy(out + static_cast<size_t>(i) * sizeof(bits), &bits, sizeof(bits));
  }
  return largest < kFloatInfinity;
}

// `infinity` is that of the type, without its sign.
template <uint16_t (*Convert)(float), uint16_t infinity>
bool EncodeHalf(const float* __restrict values, char* __restrict out, int64_t count) {
  int16_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint16_t half = Convert(values[i]);
    const auto magnitude = static_cast<int16_t>(half & 0x7fff);
    largest = magnitude > largest ? magnitude : largest;
    std::memcpy(out + static_cast<size_t>(i) * sizeof(half), &half, sizeof(half));
  }
  return largest < infinity;
}

bool EncodeInt8(const float* values, char* out, int64_t count) {
  bool finite = true;
  for (int64_t first = 0; first < count; first += kInt8Block) {
    finite &= EncodeInt8Block(values + first, std::min(kInt8Block, count - first), out);
    out += sizeof(float) + kInt8Block;
  }
  return finite;
}

// What was lost of `sum`, of which `arrived` is what arrives; 0 instead of what is not finite.
float Lost(float sum, float arrived) {
  const float lost = sum - arrived;
  return (std::bit_cast<uint32_t>(lost) & kFloatMagnitude) < kFloatInfinity ? lost : 0;
}

}  // namespace

bool Encode(WireType type, absl::Span<const float> values, char* out) {
  const auto count = static_cast<int64_t>(values.size());
  switch (type) {
    case WireType::kFp32:
      return EncodeFp32(values.data(), out, count);
    case WireType::kBf16:
      return EncodeHalf<FloatToBf16, 0x7f80>(values.data(), out, count);
    case WireType::kFp16:
      return EncodeHalf<FloatToFp16, 0x7c00>(values.data(), out, count);
    case WireType::kInt8:
      return EncodeInt8(values.data(), out, count);
    case WireType::kTopK:
      break;  // not dense
  }
  return false;
}

bool EncodeWithError(WireType type, absl::Span<const float> values, absl::Span<float> error,
                     char* out) {
  // In pieces that stay in the first-level cache.
  constexpr size_t kPiece = 16 * kInt8Block;
  std::array<float, kPiece> sum;
  std::array<float, kPiece> arrived;
  bool finite = true;
  for (size_t first = 0; first < values.size(); first += kPiece) {
    const size_t count = std::min(kPiece, values.size() - first);
    float* __restrict left = error.data() + first;
    for (size_t i = 0; i < count; ++i) sum[i] = values[first + i] + left[i];
    finite &= Encode(type, absl::MakeConstSpan(sum.data(), count), out);
    Decode(type, out, absl::MakeSpan(arrived.data(), count));
    for (size_t i = 0; i < count; ++i) left[i] = Lost(sum[i], arrived[i]);
    out += EncodedBytes(type, static_cast<int64_t>(count));
  }
  return finite;
}

}  // namespace tributary
