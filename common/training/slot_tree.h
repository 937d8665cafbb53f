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
// the next step; a buffer that somebody still holds is left alone. Not thread-safe: the owner
// locks.
#ifndef TRIBUTARY_COMMON_TRAINING_SLOT_TREE_H_
#define TRIBUTARY_COMMON_TRAINING_SLOT_TREE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/base/types.h"
#include "common/codec/span_source.h"
#include "common/codec/value_source.h"

namespace tributary {

// Whether `range` is a node of the tree over [0, slots).
bool IsTreeNode(SlotRange range, int32_t slots);

// The fewest nodes that together are exactly `range`, left to right. `range` within [0, slots).
std::vector<SlotRange> CoverWithNodes(SlotRange range, int32_t slots);

class SlotTree {
 public:
  // A node's partial sum. The next call of Add ends the view; after Reset the values stay as they
  // are while `owner` is held.
  struct Node {
    SlotRange slots;
    absl::Span<const float> values;
    BatchStatistics statistics;
    std::shared_ptr<const void> owner;
  };

  SlotTree(int32_t slots, int64_t elements);

  // Adds a node's values (`elements` of them, copied or added before it returns) and its
  // statistics. Returns false, and changes nothing, if the node is covered already. `node` must be
  // a tree node.
  bool Add(SlotRange node, const ValueSource& values, const BatchStatistics& statistics);
  bool Add(SlotRange node, absl::Span<const float> values, const BatchStatistics& statistics) {
    return Add(node, SpanSource(values), statistics);
  }

  // Whether Add of this node would complete the tree.
  bool Completes(SlotRange node) const;
  // What Add would make the root's values, piece by piece in order, for a node that completes the
  // tree: each piece is summed in the cache, and nothing is stored. The pieces begin at multiples
  // of kPieceElements. The tree does not change: Reset it.
  using Visit = absl::FunctionRef<void(int64_t first, absl::Span<const float> sum)>;
  void VisitSum(SlotRange node, const ValueSource& values, Visit visit) const;
  static constexpr int64_t kPieceElements = 4096;

  // True when the root, [0, slots), is there.
  bool complete() const;
  // The sums that are there, as few and as large as can be, left to right. When complete, the root.
  std::vector<Node> nodes() const;

  // Forgets every sum and keeps the memory.
  void Reset();

 private:
  using Buffer = std::shared_ptr<float[]>;

  struct Entry {
    Buffer values;
    BatchStatistics statistics;
  };

  Buffer TakeBuffer();
  bool IsCovered(SlotRange node) const;
  // The sums that `node` meets on its way to the root, nearest first; true if it arrives there.
  bool Climb(SlotRange node, std::vector<const float*>& siblings) const;
  void DropDescendants(SlotRange node);

  int32_t slots_;
  int64_t elements_;
  std::map<SlotRange, Entry> entries_;  // disjoint, no two of them siblings
  std::vector<Buffer> free_;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_TRAINING_SLOT_TREE_H_
