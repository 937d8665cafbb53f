#include "common/training/slot_tree.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "tests/common/training/tree_reference.h"

namespace tributary {
namespace {

constexpr int64_t kElements = 5;

// Values of many magnitudes, so that another order of additions gives other bits.
std::vector<ReferenceValue> Leaves(int32_t slots, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-12, 12);
  std::vector<ReferenceValue> leaves;
  for (int32_t slot = 0; slot < slots; ++slot) {
    ReferenceValue leaf;
    for (int64_t i = 0; i < kElements; ++i) {
      leaf.values.push_back(std::ldexp(mantissa(random), exponent(random)));
    }
    leaf.loss = std::ldexp(mantissa(random), exponent(random)) / 3.0;
    leaves.push_back(leaf);
  }
  return leaves;
}

bool Add(SlotTree& tree, SlotRange node, const ReferenceValue& value) {
  const BatchStatistics statistics{.samples = int64_t{node.size()} * 10,
                                   .loss_sum = value.loss,
                                   .correct = node.size(),
                                   .not_finite = false};
  return tree.Add(node, value.values, statistics);
}

void ExpectRoot(const SlotTree& tree, const std::map<SlotRange, ReferenceValue>& nodes,
                int32_t slots) {
  ASSERT_TRUE(tree.complete());
  const std::vector<SlotTree::Node> found = tree.nodes();
  ASSERT_EQ(found.size(), 1);
  const ReferenceValue& root = nodes.at({0, slots});
  EXPECT_EQ(found[0].slots, (SlotRange{0, slots}));
  EXPECT_EQ(std::vector<float>(found[0].values.begin(), found[0].values.end()), root.values);
  EXPECT_EQ(found[0].statistics.samples, slots * 10);
  EXPECT_EQ(found[0].statistics.correct, slots);
  EXPECT_EQ(found[0].statistics.loss_sum, root.loss);
}

TEST(SlotTree, SumDoesNotDependOnArrivalOrder) {
  for (int32_t slots = 1; slots <= 7; ++slots) {
    const std::vector<ReferenceValue> leaves = Leaves(slots, 1);
    const auto nodes = AllNodes(leaves);
    SlotTree tree(slots, kElements);
    std::vector<int32_t> order(static_cast<size_t>(slots));
    std::iota(order.begin(), order.end(), 0);
    do {
      tree.Reset();
      for (const int32_t slot : order) {
        EXPECT_FALSE(tree.complete());
        EXPECT_TRUE(Add(tree, {slot, slot + 1}, leaves[slot]));
      }
      ExpectRoot(tree, nodes, slots);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(SlotTree, SumOfManySlotsDoesNotDependOnArrivalOrder) {
  std::mt19937 random(2);
  for (const int32_t slots : {8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 64, 100}) {
    const std::vector<ReferenceValue> leaves = Leaves(slots, 2);
    const auto nodes = AllNodes(leaves);
    SlotTree tree(slots, kElements);
    std::vector<int32_t> order(static_cast<size_t>(slots));
    std::iota(order.begin(), order.end(), 0);
    for (int run = 0; run < 50; ++run) {
      std::shuffle(order.begin(), order.end(), random);
      tree.Reset();
      for (const int32_t slot : order) Add(tree, {slot, slot + 1}, leaves[slot]);
      ExpectRoot(tree, nodes, slots);
    }
  }
}

TEST(SlotTree, TheseValuesTellOneOrderFromAnother) {
  // What the tests above rest on: adding from left to right gives other bits.
  const std::vector<ReferenceValue> leaves = Leaves(17, 2);
  std::vector<float> sum = leaves[0].values;
  for (int32_t slot = 1; slot < 17; ++slot) {
    for (int64_t i = 0; i < kElements; ++i) sum[i] += leaves[slot].values[i];
  }
  EXPECT_NE(sum, AllNodes(leaves).at({0, 17}).values);
}

// Any nodes in any order, again and again: a set of slots is the model of what is covered.
TEST(SlotTree, TakesAnyNodesInAnyOrderAndDropsWhatIsThere) {
  for (int32_t slots = 1; slots <= 17; ++slots) {
    const std::vector<ReferenceValue> leaves = Leaves(slots, 3);
    const auto nodes = AllNodes(leaves);
    std::vector<SlotRange> ranges;
    ranges.reserve(nodes.size());
    for (const auto& [range, value] : nodes) ranges.push_back(range);
    SlotTree tree(slots, kElements);
    std::mt19937 random(slots);
    for (int run = 0; run < 100; ++run) {
      tree.Reset();
      std::vector<bool> covered(static_cast<size_t>(slots), false);
      while (!tree.complete()) {
        const SlotRange range = ranges[random() % ranges.size()];
        const bool is_new = std::find(covered.begin() + range.begin, covered.begin() + range.end,
                                      false) != covered.begin() + range.end;
        ASSERT_EQ(Add(tree, range, nodes.at(range)), is_new);
        std::fill(covered.begin() + range.begin, covered.begin() + range.end, true);

        // What is there is what is covered, as few nodes as can be, each with its one value.
        std::vector<bool> held(static_cast<size_t>(slots), false);
        const std::vector<SlotTree::Node> found = tree.nodes();
        for (const SlotTree::Node& node : found) {
          const ReferenceValue& expected = nodes.at(node.slots);
          ASSERT_EQ(std::vector<float>(node.values.begin(), node.values.end()), expected.values);
          ASSERT_EQ(node.statistics.loss_sum, expected.loss);
          ASSERT_EQ(node.statistics.samples, node.slots.size() * 10);
          std::fill(held.begin() + node.slots.begin, held.begin() + node.slots.end, true);
        }
        ASSERT_EQ(held, covered);
        size_t fewest = 0;
        for (int32_t begin = 0; begin < slots;) {
          int32_t end = begin;
          while (end < slots && covered[end]) ++end;
          if (end > begin) fewest += CoverWithNodes({begin, end}, slots).size();
          begin = std::max(end, begin + 1);
        }
        ASSERT_EQ(found.size(), fewest);
      }
      ExpectRoot(tree, nodes, slots);
      for (const SlotRange range : ranges) ASSERT_FALSE(Add(tree, range, nodes.at(range)));
      ExpectRoot(tree, nodes, slots);
    }
  }
}

TEST(SlotTree, OneSlotThatIsNotFiniteMarksTheSum) {
  SlotTree tree(3, 1);
  const std::vector<float> value{1};
  tree.Add({1, 2}, value, {.not_finite = false});
  tree.Add({2, 3}, value, {.not_finite = true});
  tree.Add({0, 1}, value, {.not_finite = false});
  ASSERT_TRUE(tree.complete());
  EXPECT_TRUE(tree.nodes()[0].statistics.not_finite);
}

TEST(SlotTree, TakesNoMoreBuffersThanSlotsAndKeepsThem) {
  constexpr int32_t kSlots = 8;
  const std::vector<ReferenceValue> leaves = Leaves(kSlots, 4);
  SlotTree tree(kSlots, kElements);
  std::set<const float*> buffers;
  const auto look = [&] {
    for (const SlotTree::Node& node : tree.nodes()) buffers.insert(node.values.data());
  };
  for (int step = 0; step < 100; ++step) {
    // Even slots first: the most that can wait for a sibling.
    for (const int32_t slot : {0, 2, 4, 6, 7, 5, 3, 1}) {
      Add(tree, {slot, slot + 1}, leaves[slot]);
      look();
    }
    ASSERT_TRUE(tree.complete());
    tree.Reset();
    EXPECT_TRUE(tree.nodes().empty());
  }
  EXPECT_EQ(buffers.size(), 4);
}

TEST(SlotTree, ATransferOfNothingIsComplete) {
  SlotTree tree(2, 0);
  EXPECT_TRUE(tree.Add({0, 1}, {}, {.samples = 1}));
  EXPECT_FALSE(tree.Add({0, 1}, {}, {.samples = 1}));
  EXPECT_TRUE(tree.Add({1, 2}, {}, {.samples = 2}));
  ASSERT_TRUE(tree.complete());
  EXPECT_TRUE(tree.nodes()[0].values.empty());
  EXPECT_EQ(tree.nodes()[0].statistics.samples, 3);
}

}  // namespace
}  // namespace tributary
