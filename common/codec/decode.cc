#include "common/codec/decode.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/codec/half.h"
#include "common/codec/int8_block.h"

namespace tributary {
namespace {

void Store(float& out, float value) {
  out = value;
}
void Accumulate(float& sum, float value) {
  sum += value;
}

// `Convert` makes a float of a `Stored`; `Use` puts it to its place.
template <typename Stored, float (*Convert)(Stored), void (*Use)(float&, float)>
void EachElement(const char* __restrict encoded, float* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Stored stored;
    std::memcpy(&stored, encoded + static_cast<size_t>(i) * sizeof(stored), sizeof(stored));
    Use(out[i], Convert(stored));
  }
}

template <void (*Use)(float&, float)>
void EachInt8(const char* __restrict encoded, float* __restrict out, int64_t count) {
  for (int64_t first = 0; first < count; first += kInt8Block) {
    float* block = out + first;
    DecodeInt8Block(encoded, std::min(kInt8Block, count - first),
                    [block](int64_t i, float value) { Use(block[i], value); });
    encoded += sizeof(float) + kInt8Block;
  }
}

float Same(float value) {
  return value;
}

template <void (*Use)(float&, float)>
void DecodeEach(WireType type, const char* encoded, absl::Span<float> out) {
  const auto count = static_cast<int64_t>(out.size());
  switch (type) {
    case WireType::kFp32:
      return EachElement<float, Same, Use>(encoded, out.data(), count);
    case WireType::kBf16:
      return EachElement<uint16_t, Bf16ToFloat, Use>(encoded, out.data(), count);
    case WireType::kFp16:
      return EachElement<uint16_t, Fp16ToFloat, Use>(encoded, out.data(), count);
    case WireType::kInt8:
      return EachInt8<Use>(encoded, out.data(), count);
    case WireType::kTopK:
      break;  // not dense
  }
}

}  // namespace

void Decode(WireType type, const char* encoded, absl::Span<float> out) {
  DecodeEach<Store>(type, encoded, out);
}

void DecodeAdd(WireType type, const char* encoded, absl::Span<float> sum) {
  DecodeEach<Accumulate>(type, encoded, sum);
}

}  // namespace tributary
