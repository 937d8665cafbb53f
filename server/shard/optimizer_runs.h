// Which elements of a shard's range have weight decay, as runs:
//
//   conv1.weight         conv1.bias      conv2.weight
//   |<---- decays ------>|<-- spared --->|<--- decays ...
//
// Padding belongs to the tensor before it: it is zero, its gradient is zero, so it stays zero.
#ifndef TRIBUTARY_SERVER_SHARD_OPTIMIZER_RUNS_H_
#define TRIBUTARY_SERVER_SHARD_OPTIMIZER_RUNS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/base/types.h"
#include "common/model/layout.h"

namespace tributary {

class DecayRuns {
 public:
  // `range` within the layout. With `spare_biases` false there is one run, and it decays.
  DecayRuns(const Layout& layout, ElementRange range, bool spare_biases);

  // The range's length.
  int64_t elements() const { return runs_.back().end; }

  // Calls visit(piece, decays) for the pieces that make up `part`, left to right. Positions count
  // from the start of the range.
  template <typename Visit>
  void ForEachPiece(ElementRange part, Visit visit) const {
    auto run = std::upper_bound(runs_.begin(), runs_.end(), part.begin,
                                [](int64_t position, const Run& r) { return position < r.end; });
    for (int64_t begin = part.begin; begin < part.end; ++run) {
      const int64_t end = std::min(part.end, run->end);
      visit(ElementRange{begin, end}, run->decays);
      begin = end;
    }
  }

 private:
  struct Run {
    int64_t end;
    bool decays;
  };

  std::vector<Run> runs_;  // neighbours differ in `decays`; the last one ends with the range
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SHARD_OPTIMIZER_RUNS_H_
