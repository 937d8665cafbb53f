// fp32 to the dense wire types, with or without error feedback: what the type loses of an element
// is added to the element the next time (F. Seide et al., "1-bit stochastic gradient descent",
// 2014; S. P. Karimireddy et al., "Error feedback fixes SignSGD", 2019).
#ifndef TRIBUTARY_COMMON_CODEC_ENCODE_H_
#define TRIBUTARY_COMMON_CODEC_ENCODE_H_

#include "absl/types/span.h"
#include "common/codec/wire_type.h"

namespace tributary {

// Writes EncodedBytes(type, values.size()) bytes. True if all that was written is finite; an fp16
// can be infinite where the element is not. Dense types alone.
bool Encode(WireType type, absl::Span<const float> values, char* out);

// Encodes values + error and leaves in `error`, of the same size, what was lost of that sum; 0
// where it is not finite.
bool EncodeWithError(WireType type, absl::Span<const float> values, absl::Span<float> error,
                     char* out);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CODEC_ENCODE_H_
