#include "common/training/slot_tree.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace tributary {
namespace {

// The smallest power of two that is at least `value` (positive).
int64_t PowerOfTwoAbove(int64_t value) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(value)));
}

// The node that `node` and its sibling are the halves of; `node` is not the root. A node at the
// tree's ragged right edge stands for every level at which it is alone: its parent is the first one
// that is larger.
SlotRange Parent(SlotRange node, int32_t slots) {
  int64_t width = PowerOfTwoAbove(node.size());
  while (true) {
    width *= 2;
    const int64_t begin = node.begin / width * width;
    const SlotRange parent{static_cast<int32_t>(begin),
                           static_cast<int32_t>(std::min<int64_t>(begin + width, slots))};
    if (parent != node) return parent;
  }
}

SlotRange Sibling(SlotRange node, SlotRange parent) {
  return node.begin == parent.begin ? SlotRange{node.end, parent.end}
                                    : SlotRange{parent.begin, node.begin};
}

void AddInto(float* __restrict sum, const float* __restrict values, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) sum[i] += values[i];
}

}  // namespace

bool IsTreeNode(SlotRange range, int32_t slots) {
  if (range.begin < 0 || range.end > slots || range.begin >= range.end) return false;
  const int64_t width = PowerOfTwoAbove(range.size());
  return range.begin % width == 0 && (range.size() == width || range.end == slots);
}

std::vector<SlotRange> CoverWithNodes(SlotRange range, int32_t slots) {
  std::vector<SlotRange> nodes;
  int64_t begin = range.begin;
  while (begin < range.end) {
    // The widest node that starts here and does not pass the end.
    int64_t width = 1;
    const auto node_end = [&](int64_t w) { return std::min<int64_t>(begin + w, slots); };
    while (begin % (2 * width) == 0 && node_end(2 * width) <= range.end &&
           node_end(width) < range.end) {
      width *= 2;
    }
    nodes.push_back({static_cast<int32_t>(begin), static_cast<int32_t>(node_end(width))});
    begin = node_end(width);
  }
  return nodes;
}

SlotTree::SlotTree(int32_t slots, int64_t elements) : slots_(slots), elements_(elements) {}

bool SlotTree::Add(SlotRange node, const ValueSource& values, const BatchStatistics& statistics) {
  if (IsCovered(node)) return false;
  DropDescendants(node);

  Entry entry{nullptr, statistics};
  const SlotRange root{0, slots_};
  // Climb while the sibling is there. Its buffer becomes the sum's; `values` is read once.
  while (node != root) {
    const SlotRange parent = Parent(node, slots_);
    const auto sibling = entries_.find(Sibling(node, parent));
    if (sibling == entries_.end()) break;
    if (entry.values == nullptr) {
      values.AddTo(0, absl::MakeSpan(sibling->second.values.get(), elements_));
    } else {
      AddInto(sibling->second.values.get(), entry.values.get(), elements_);
      free_.push_back(std::move(entry.values));
    }
    entry.values = std::move(sibling->second.values);
    // Statistics are added left to right, so that the sum of the losses has one value too.
    BatchStatistics sum =
        node.begin == parent.begin ? entry.statistics : sibling->second.statistics;
    sum += node.begin == parent.begin ? sibling->second.statistics : entry.statistics;
    entry.statistics = sum;
    entries_.erase(sibling);
    node = parent;
  }
  if (entry.values == nullptr) {
    entry.values = TakeBuffer();
    values.CopyTo(0, absl::MakeSpan(entry.values.get(), elements_));
  }
  entries_.emplace(node, std::move(entry));
  return true;
}

bool SlotTree::Climb(SlotRange node, std::vector<const float*>& siblings) const {
  const SlotRange root{0, slots_};
  while (node != root) {
    const SlotRange parent = Parent(node, slots_);
    const auto sibling = entries_.find(Sibling(node, parent));
    if (sibling == entries_.end()) return false;
    siblings.push_back(sibling->second.values.get());
    node = parent;
  }
  return true;
}

bool SlotTree::Completes(SlotRange node) const {
  std::vector<const float*> siblings;
  return !IsCovered(node) && Climb(node, siblings);
}

void SlotTree::VisitSum(SlotRange node, const ValueSource& values, Visit visit) const {
  std::vector<const float*> siblings;
  Climb(node, siblings);
  alignas(64) std::array<float, kPieceElements> piece;
  for (int64_t first = 0; first < elements_; first += kPieceElements) {
    const int64_t count = std::min(kPieceElements, elements_ - first);
    const absl::Span<float> sum = absl::MakeSpan(piece.data(), static_cast<size_t>(count));
    values.CopyTo(first, sum);
    for (const float* sibling : siblings) AddInto(sum.data(), sibling + first, count);
    visit(first, sum);
  }
}

bool SlotTree::complete() const {
  return entries_.size() == 1 && entries_.begin()->first == SlotRange{0, slots_};
}

std::vector<SlotTree::Node> SlotTree::nodes() const {
  std::vector<Node> nodes;
  nodes.reserve(entries_.size());
  for (const auto& [slots, entry] : entries_) {
    nodes.push_back({.slots = slots,
                     .values = absl::MakeConstSpan(entry.values.get(), elements_),
                     .statistics = entry.statistics,
                     .owner = entry.values});
  }
  return nodes;
}

void SlotTree::Reset() {
  for (auto& [slots, entry] : entries_) free_.push_back(std::move(entry.values));
  entries_.clear();
}

SlotTree::Buffer SlotTree::TakeBuffer() {
  const auto unheld = std::find_if(free_.begin(), free_.end(),
                                   [](const Buffer& buffer) { return buffer.use_count() == 1; });
  if (unheld == free_.end()) return Buffer(new float[static_cast<size_t>(elements_)]);
  Buffer buffer = std::move(*unheld);
  free_.erase(unheld);
  return buffer;
}

bool SlotTree::IsCovered(SlotRange node) const {
  // The last entry that starts at or before the node.
  auto after = entries_.upper_bound(SlotRange{node.begin, slots_ + 1});
  if (after == entries_.begin()) return false;
  return std::prev(after)->first.end >= node.end;
}

void SlotTree::DropDescendants(SlotRange node) {
  for (auto it = entries_.lower_bound(SlotRange{node.begin, 0});
       it != entries_.end() && it->first.begin < node.end;) {
    free_.push_back(std::move(it->second.values));
    it = entries_.erase(it);
  }
}

}  // namespace tributary
