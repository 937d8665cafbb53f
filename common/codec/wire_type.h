// What an fp32 element looks like on the wire. Everything is little-endian.
//
//   type   bytes                          an element
//   fp32   4 n                            itself
//   bf16   2 n                            rounded to nearest even, 8 bits of precision
//   fp16   2 n                            rounded to nearest even (IEEE 754 binary16)
//   int8   n + 4 * ceil(n / 64)           a block of 64: fp32 scale, then a signed byte each;
//                                         scale * byte, with scale = largest magnitude / 127
//   top-k  8 * entries                    the largest alone: u32 index, fp32 value, by index
//
// A dense type can be cut at every multiple of 64 elements: the parts lie one behind the other.
#ifndef TRIBUTARY_COMMON_CODEC_WIRE_TYPE_H_
#define TRIBUTARY_COMMON_CODEC_WIRE_TYPE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace tributary {

enum class WireType : uint8_t { kFp32, kBf16, kFp16, kInt8, kTopK };

// Elements that share a scale in int8; a multiple of every vector register's width.
inline constexpr int64_t kInt8Block = 64;

// "fp32", "bf16", "fp16", "int8", "topk".
absl::string_view WireTypeName(WireType type);

// Bytes of `elements` elements of a dense type, fewer than 2^60 of them.
int64_t EncodedBytes(WireType type, int64_t elements);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CODEC_WIRE_TYPE_H_
