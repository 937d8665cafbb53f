// The shape of the tree, held against its definition for every range of every small tree.
#include <vector>

#include "common/training/slot_tree.h"
#include "gtest/gtest.h"
#include "tests/common/training/tree_reference.h"

namespace tributary {
namespace {

constexpr int32_t kMostSlots = 17;

std::map<SlotRange, ReferenceValue> NodesOf(int32_t slots) {
  return AllNodes(std::vector<ReferenceValue>(static_cast<size_t>(slots)));
}

TEST(SlotTreeNodes, AreTheRangesOfTheDefinition) {
  for (int32_t slots = 1; slots <= kMostSlots; ++slots) {
    const auto nodes = NodesOf(slots);
    for (int32_t begin = -2; begin <= slots + 2; ++begin) {
      for (int32_t end = -2; end <= slots + 3; ++end) {
        EXPECT_EQ(IsTreeNode({begin, end}, slots), nodes.count({begin, end}) == 1)
            << "[" << begin << ", " << end << ") of " << slots;
      }
    }
  }
}

TEST(SlotTreeNodes, ALeafIsANodeAndSoIsTheRoot) {
  constexpr int32_t kSlots = 1'000'003;
  EXPECT_TRUE(IsTreeNode({0, kSlots}, kSlots));
  EXPECT_TRUE(IsTreeNode({kSlots - 1, kSlots}, kSlots));
  EXPECT_TRUE(IsTreeNode({524288, kSlots}, kSlots));
  EXPECT_FALSE(IsTreeNode({1, kSlots}, kSlots));
  EXPECT_FALSE(IsTreeNode({0, kSlots - 1}, kSlots));
}

TEST(SlotTreeNodes, RangesFarOutsideAreNoNodes) {
  EXPECT_FALSE(IsTreeNode({INT32_MIN, INT32_MIN + 1}, 4));
  EXPECT_FALSE(IsTreeNode({INT32_MIN, 4}, 4));
  EXPECT_FALSE(IsTreeNode({0, INT32_MAX}, 4));
  EXPECT_FALSE(IsTreeNode({INT32_MAX, INT32_MAX}, 4));
  EXPECT_FALSE(IsTreeNode({INT32_MAX, INT32_MIN}, INT32_MAX));
}

TEST(SlotTreeNodes, ACoverIsTheFewestNodesFromLeftToRight) {
  for (int32_t slots = 1; slots <= kMostSlots; ++slots) {
    const auto nodes = NodesOf(slots);
    for (int32_t begin = 0; begin < slots; ++begin) {
      // fewest[e]: the fewest nodes that are exactly [begin, e).
      std::vector<int> fewest(static_cast<size_t>(slots) + 1, 1000);
      fewest[begin] = 0;
      for (int32_t end = begin + 1; end <= slots; ++end) {
        for (int32_t middle = begin; middle < end; ++middle) {
          if (nodes.count({middle, end}) == 0) continue;
          fewest[end] = std::min(fewest[end], fewest[middle] + 1);
        }
        const std::vector<SlotRange> cover = CoverWithNodes({begin, end}, slots);
        EXPECT_EQ(static_cast<int>(cover.size()), fewest[end])
            << "[" << begin << ", " << end << ") of " << slots;
        int32_t position = begin;
        for (const SlotRange node : cover) {
          EXPECT_EQ(node.begin, position);
          EXPECT_EQ(nodes.count(node), 1) << "[" << node.begin << ", " << node.end << ")";
          position = node.end;
        }
        EXPECT_EQ(position, end);
      }
      EXPECT_TRUE(CoverWithNodes({begin, begin}, slots).empty());
    }
  }
}

}  // namespace
}  // namespace tributary
