// The fixed binary tree that adds up the slots of a step.
//
//              [0,5)              A node is a range [i * 2^l, min((i + 1) * 2^l, slots)).
//             /     \             Its value is left + right, elementwise in fp32; a node whose
//         [0,4)     [4,5)         right half lies beyond `slots` is its left child.
//        /     \                  A pairwise addition commutes, so the sum of all slots depends
//    [0,2)     [2,4)              on the shape of the tree alone, never on the order of arrival
//    /   \     /   \              or on who added what.
//   0     1   2     3
//
// A tree holds the partial sums of one chunk of one step. Any node may arrive, from anyone, any
// number of times: the first one counts, and since whoever computes a slot computes the same bits,
// it does not matter which one that is.
//
// Memory: one buffer per node that waits for its sibling, at most min(slots, nodes added), kept for
// the next step. Not thread-safe: the owner locks.
#ifndef TRIBUTARY_COMMON_TRAINING_SLOT_TREE_H_
#define TRIBUTARY_COMMON_TRAINING_SLOT_TREE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "common/base/types.h"

namespace tributary {

// Whether `range` is a node of the tree over [0, slots).
bool IsTreeNode(SlotRange range, int32_t slots);

// The fewest nodes that together are exactly `range`, left to right. `range` within [0, slots).
std::vector<SlotRange> CoverWithNodes(SlotRange range, int32_t slots);

class SlotTree {
 public:
  // A node's partial sum, as a view that the next call of Add, TakeRoot or Reset ends.
  struct Node {
    SlotRange slots;
    absl::Span<const float> values;
    BatchStatistics statistics;
  };

  SlotTree(int32_t slots, int64_t elements);

  // Adds a node's values (`elements` of them, 4-byte aligned, copied or added before it returns)
  // and its statistics. Returns false, and changes nothing, if the node is covered already.
  // `node` must be a tree node.
  bool Add(SlotRange node, absl::Span<const float> values, const BatchStatistics& statistics);

  // True when the root, [0, slots), is there.
  bool complete() const;
  // The sums that are there, as few and as large as can be, left to right. When complete, the root.
  std::vector<Node> nodes() const;

  // Forgets every sum and keeps the memory.
  void Reset();

 private:
  struct Entry {
    std::unique_ptr<float[]> values;
    BatchStatistics statistics;
  };

  std::unique_ptr<float[]> TakeBuffer();
  bool IsCovered(SlotRange node) const;
  void DropDescendants(SlotRange node);

  int32_t slots_;
  int64_t elements_;
  std::map<SlotRange, Entry> entries_;  // disjoint, no two of them siblings
  std::vector<std::unique_ptr<float[]>> free_;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_TRAINING_SLOT_TREE_H_
