#include "common/codec/piece_source.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/codec/decode.h"
#include "common/codec/sparse.h"

namespace tributary {

PieceSource::PieceSource(WireType type, std::vector<absl::string_view> pieces)
    : type_(type),
      unit_elements_(type == WireType::kInt8 ? kInt8Block : 1),
      pieces_(std::move(pieces)) {
  pieces_.erase(std::remove_if(pieces_.begin(), pieces_.end(),
                               [](absl::string_view piece) { return piece.empty(); }),
                pieces_.end());
  int64_t begin = 0;
  for (const absl::string_view piece : pieces_) {
    begins_.push_back(begin);
    begin += static_cast<int64_t>(piece.size());
  }
}

void PieceSource::CopyTo(int64_t first, absl::Span<float> out) const {
  Each(first, out, Decode);
}

void PieceSource::AddTo(int64_t first, absl::Span<float> sum) const {
  Each(first, sum, DecodeAdd);
}

void PieceSource::Each(int64_t first, absl::Span<float> out, Kernel kernel) const {
  if (out.empty()) return;
  const int64_t offset = EncodedBytes(type_, first);
  auto index = static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), offset) -
                                   begins_.begin() - 1);
  absl::string_view rest = pieces_[index].substr(static_cast<size_t>(offset - begins_[index]));
  const int64_t unit_bytes = EncodedBytes(type_, unit_elements_);
  while (!out.empty()) {
    const auto left = static_cast<int64_t>(out.size());
    // The whole units in this piece; the last unit of all may be shorter.
    int64_t count = std::min(left, static_cast<int64_t>(rest.size()) / unit_bytes * unit_elements_);
    if (EncodedBytes(type_, left) <= static_cast<int64_t>(rest.size())) count = left;
    if (count > 0) {
      kernel(type_, rest.data(), out.subspan(0, static_cast<size_t>(count)));
      rest.remove_prefix(static_cast<size_t>(EncodedBytes(type_, count)));
    } else {
      // A unit that goes on in the next piece, or in several.
      std::array<char, sizeof(float) + kInt8Block> unit;
      count = std::min(left, unit_elements_);
      const auto bytes = static_cast<size_t>(EncodedBytes(type_, count));
      size_t filled = 0;
      while (true) {
        const size_t part = std::min(bytes - filled, rest.size());
        std::memcpy(unit.data() + filled, rest.data(), part);
        filled += part;
        rest.remove_prefix(part);
        if (filled == bytes) break;
        rest = pieces_[++index];
      }
      kernel(type_, unit.data(), out.subspan(0, static_cast<size_t>(count)));
    }
    out.remove_prefix(static_cast<size_t>(count));
    if (rest.empty() && !out.empty()) rest = pieces_[++index];
  }
}

absl::StatusOr<std::unique_ptr<ValueSource>> ReadPieces(WireType type, int64_t elements,
                                                        std::vector<absl::string_view> pieces) {
  if (type == WireType::kTopK) {
    ASSIGN_OR_RETURN(std::vector<SparseEntry> entries, ReadSparse(elements, pieces));
    return std::make_unique<SparseSource>(std::move(entries));
  }
  int64_t bytes = 0;
  for (const absl::string_view piece : pieces) bytes += static_cast<int64_t>(piece.size());
  if (bytes != EncodedBytes(type, elements)) {
    return absl::InvalidArgumentError(absl::StrCat("found ", bytes, " bytes, expected ",
                                                   EncodedBytes(type, elements), " (", elements,
                                                   " elements in ", WireTypeName(type), ")"));
  }
  return std::make_unique<PieceSource>(type, std::move(pieces));
}

}  // namespace tributary
