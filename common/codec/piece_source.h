// Encoded elements as they arrive: bytes in pieces, cut anywhere, an element cut too. They are read
// straight out of the pieces; only what a border cuts is put together first.
#ifndef TRIBUTARY_COMMON_CODEC_PIECE_SOURCE_H_
#define TRIBUTARY_COMMON_CODEC_PIECE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/codec/value_source.h"
#include "common/codec/wire_type.h"

namespace tributary {

// The `elements` elements of `type` in `pieces`, from the network; the memory of a dense type's
// pieces belongs to the caller, sparse entries are copied. Errors: INVALID_ARGUMENT for another
// number of bytes than the type has, for entries that are not in ascending order, lie outside or
// are zero.
absl::StatusOr<std::unique_ptr<ValueSource>> ReadPieces(WireType type, int64_t elements,
                                                        std::vector<absl::string_view> pieces);

class PieceSource final : public ValueSource {
 public:
  // `pieces` are EncodedBytes(type, elements) bytes together, of a dense type.
  PieceSource(WireType type, std::vector<absl::string_view> pieces);

  void CopyTo(int64_t first, absl::Span<float> out) const override;
  void AddTo(int64_t first, absl::Span<float> sum) const override;

 private:
  using Kernel = void (*)(WireType type, const char* encoded, absl::Span<float> out);

  void Each(int64_t first, absl::Span<float> out, Kernel kernel) const;

  WireType type_;
  // What is never cut for the kernels: an element, or a block of int8.
  int64_t unit_elements_;
  std::vector<absl::string_view> pieces_;  // none of them empty
  std::vector<int64_t> begins_;            // where each begins, in bytes
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CODEC_PIECE_SOURCE_H_
