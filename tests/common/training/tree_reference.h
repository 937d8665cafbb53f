// The tree over [0, slots) as its definition has it, level by level: slow, and plain to see.
#ifndef TRIBUTARY_TESTS_COMMON_TRAINING_TREE_REFERENCE_H_
#define TRIBUTARY_TESTS_COMMON_TRAINING_TREE_REFERENCE_H_

#include <algorithm>
#include <map>
#include <vector>

#include "common/base/types.h"

namespace tributary {

// A node's value: one float per element and the sum of the losses.
struct ReferenceValue {
  std::vector<float> values;
  double loss = 0;
};

// The value of every node, [i * 2^l, min((i + 1) * 2^l, slots)) for every l and i, from those of
// the leaves.
inline std::map<SlotRange, ReferenceValue> AllNodes(const std::vector<ReferenceValue>& leaves) {
  const auto slots = static_cast<int32_t>(leaves.size());
  std::map<SlotRange, ReferenceValue> nodes;
  for (int32_t slot = 0; slot < slots; ++slot) nodes[{slot, slot + 1}] = leaves[slot];
  for (int32_t width = 2; width < 2 * slots; width *= 2) {
    for (int32_t begin = 0; begin < slots; begin += width) {
      const int32_t middle = begin + width / 2;
      const int32_t end = std::min(begin + width, slots);
      if (middle >= slots) continue;  // the node is its left child
      const ReferenceValue& left = nodes.at({begin, middle});
      const ReferenceValue& right = nodes.at({middle, end});
      ReferenceValue sum = left;
      for (size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += right.values[i];
      sum.loss += right.loss;
      nodes[{begin, end}] = sum;
    }
  }
  return nodes;
}

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_COMMON_TRAINING_TREE_REFERENCE_H_
