// A whole vector as it goes over the wire, in any type, of which chunks are sent one by one.
#ifndef TRIBUTARY_COMMON_CODEC_ENCODED_VECTOR_H_
#define TRIBUTARY_COMMON_CODEC_ENCODED_VECTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/shared_bytes.h"
#include "common/base/types.h"
#include "common/codec/wire_type.h"

namespace tributary {

// What `range` is of the encoded bytes of a dense type. The range counts from their first element,
// begins at a multiple of kInt8Block and ends at one or with the elements.
absl::string_view EncodedPart(WireType type, absl::string_view encoded, ElementRange range);

// An element of the top-k type, before the vector is cut into chunks.
struct VectorEntry {
  int64_t index = 0;
  float value = 0;
};

// Immutable; shares its memory with its copies and its parts. Any thread may read.
class EncodedVector {
 public:
  EncodedVector() = default;  // of no elements

  // fp32 in memory that `owner` keeps; null: the caller does.
  static EncodedVector Fp32(absl::Span<const float> values, std::shared_ptr<const void> owner);
  // EncodedBytes(type, elements) bytes of another dense type.
  static EncodedVector Dense(WireType type, std::shared_ptr<const std::string> encoded);
  // Entries of the top-k type, ascending; none of them zero.
  static EncodedVector Sparse(std::vector<VectorEntry> entries);

  WireType type() const { return type_; }
  // What goes over the wire of the elements in `range`, which begins at a multiple of kInt8Block
  // and ends at one or with the vector.
  SharedBytes Part(ElementRange range) const;

 private:
  WireType type_ = WireType::kFp32;
  SharedBytes dense_;
  std::shared_ptr<const std::vector<VectorEntry>> entries_;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CODEC_ENCODED_VECTOR_H_
