#include "common/model/layout.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/fingerprint.h"

namespace tributary {
namespace {

int64_t RoundUpToAlignment(int64_t elements) {
  return (elements + kLayoutAlignment - 1) / kLayoutAlignment * kLayoutAlignment;
}

absl::StatusOr<int64_t> CountElements(const ParameterTensor& tensor) {
  int64_t elements = 1;
  for (const int64_t dimension : tensor.shape) {
    if (dimension < 1) {
      return absl::InvalidArgumentError(absl::StrCat("tensor ", tensor.name, ": found dimension ",
                                                     dimension, ", allowed at least 1"));
    }
    if (dimension > kMaxLayoutElements / elements) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", tensor.name, ": more than ", kMaxLayoutElements, " elements"));
    }
    elements *= dimension;
  }
  return elements;
}

}  // namespace

absl::StatusOr<Layout> Layout::Create(std::vector<ParameterTensor> tensors) {
  Layout layout;
  absl::flat_hash_set<std::string> names;
  Fingerprint fingerprint;
  for (ParameterTensor& tensor : tensors) {
    if (!names.insert(tensor.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("tensor ", tensor.name, ": the name occurs twice"));
    }
    const absl::StatusOr<int64_t> elements = CountElements(tensor);
    if (!elements.ok()) return elements.status();
    tensor.elements = *elements;
    tensor.offset = layout.elements_;
    layout.elements_ += RoundUpToAlignment(tensor.elements);
    layout.parameters_ += tensor.elements;
    if (layout.elements_ > kMaxLayoutElements) {
      return absl::InvalidArgumentError(
          absl::StrCat("the model has more than ", kMaxLayoutElements, " parameters"));
    }
    fingerprint.Add(tensor.name.size()).Add(tensor.name).Add(tensor.shape.size());
    for (const int64_t dimension : tensor.shape) fingerprint.Add(static_cast<uint64_t>(dimension));
    fingerprint.Add(static_cast<uint64_t>(tensor.offset));
  }
  layout.tensors_ = std::move(tensors);
  layout.fingerprint_ = fingerprint.value();
  return layout;
}

ElementRange Layout::ShardRange(ShardId shard, ShardId shards) const {
  // Units times shards stays below 2^34 * 2^16. The last unit may be shorter.
  const int64_t units = (elements_ + kShardUnit - 1) / kShardUnit;
  return {units * shard / shards * kShardUnit,
          std::min(elements_, units * (shard + 1) / shards * kShardUnit)};
}

std::vector<ElementRange> CutIntoChunks(ElementRange range, int64_t chunk_elements) {
  if (range.empty()) return {range};
  std::vector<ElementRange> chunks;
  for (int64_t begin = range.begin; begin < range.end; begin += chunk_elements) {
    chunks.push_back({begin, std::min(begin + chunk_elements, range.end)});
  }
  return chunks;
}

}  // namespace tributary
