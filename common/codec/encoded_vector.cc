#include "common/codec/encoded_vector.h"

#include <algorithm>
#include <utility>

#include "common/codec/sparse.h"

namespace tributary {

absl::string_view EncodedPart(WireType type, absl::string_view encoded, ElementRange range) {
  const int64_t begin = EncodedBytes(type, range.begin);
  const int64_t end = EncodedBytes(type, range.end);
  return encoded.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

EncodedVector EncodedVector::Fp32(absl::Span<const float> values,
                                  std::shared_ptr<const void> owner) {
  EncodedVector vector;
  vector.dense_ = {AsBytes(values), std::move(owner)};
  return vector;
}

EncodedVector EncodedVector::Dense(WireType type, std::shared_ptr<const std::string> encoded) {
  EncodedVector vector;
  vector.type_ = type;
  vector.dense_.bytes = *encoded;
  vector.dense_.owner = std::move(encoded);
  return vector;
}

EncodedVector EncodedVector::Sparse(std::vector<VectorEntry> entries) {
  EncodedVector vector;
  vector.type_ = WireType::kTopK;
  vector.entries_ = std::make_shared<const std::vector<VectorEntry>>(std::move(entries));
  return vector;
}

SharedBytes EncodedVector::Part(ElementRange range) const {
  if (type_ != WireType::kTopK) {
    return {EncodedPart(type_, dense_.bytes, range), dense_.owner};
  }
  const auto at = [this](int64_t index) {
    return std::lower_bound(
        entries_->begin(), entries_->end(), index,
        [](const VectorEntry& entry, int64_t begin) { return entry.index < begin; });
  };
  auto part = std::make_shared<std::vector<SparseEntry>>();
  const auto end = at(range.end);
  for (auto entry = at(range.begin); entry != end; ++entry) {
    part->push_back({static_cast<uint32_t>(entry->index - range.begin), entry->value});
  }
  return {AsBytes(absl::MakeConstSpan(*part)), part};
}

}  // namespace tributary
