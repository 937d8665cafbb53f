// The dense wire types back to fp32: to copy, or to add to what is there. Any alignment of the
// bytes; the hot loops of both ends (tests/bench/codec_bench.cc).
#ifndef TRIBUTARY_COMMON_CODEC_DECODE_H_
#define TRIBUTARY_COMMON_CODEC_DECODE_H_

#include "absl/types/span.h"
#include "common/codec/wire_type.h"

namespace tributary {

// Reads EncodedBytes(type, out.size()) bytes. Dense types alone.
void Decode(WireType type, const char* encoded, absl::Span<float> out);
// sum[i] += element i.
void DecodeAdd(WireType type, const char* encoded, absl::Span<float> sum);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CODEC_DECODE_H_
