// An optimizer over one contiguous range of the flat vector: owns its state (momentum, moments),
// and turns parameters of version t and a gradient sum into parameters of version t + 1.
//
// One pass over memory: each element's gradient, state and parameter are read once and written
// once. Plain loops that the compiler vectorises, without contraction, so an element's bits do not
// depend on where it stands in the range, nor on how the vector is cut into shards, nor on the
// processor: additions, products, divisions and square roots are correctly rounded everywhere, and
// a factor that all elements share is computed in float64 for each call and rounded to fp32 once.
#ifndef TRIBUTARY_SERVER_SHARD_OPTIMIZER_H_
#define TRIBUTARY_SERVER_SHARD_OPTIMIZER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/base/types.h"
#include "common/job/job.h"
#include "common/model/layout.h"

namespace tributary {

class Optimizer {
 public:
  // One array of the state, for checkpoints and tests: "momentum_buffer", "exp_avg", ... as
  // PyTorch's state_dict calls them. As long as the range.
  struct State {
    std::string name;
    absl::Span<float> values;
  };

  virtual ~Optimizer() = default;

  // Elements [part.begin, part.end), counted from the start of the optimizer's range: `gradient` is
  // the sum over `samples` samples, which is divided by `samples` first; `before` and `after` hold
  // parameters of the same elements (part.size() each; they do not overlap, `gradient` neither).
  // `update` is the number of updates applied before this one. Several threads may work on
  // parts that do not overlap.
  virtual void Apply(ElementRange part, absl::Span<const float> gradient, int64_t samples,
                     double learning_rate, int64_t update, absl::Span<const float> before,
                     absl::Span<float> after) = 0;

  virtual std::vector<State> state() = 0;
};

// `range` is the shard's part of the layout; it says which elements have weight decay.
std::unique_ptr<Optimizer> CreateOptimizer(const OptimizerConfig& config, const Layout& layout,
                                           ElementRange range);

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SHARD_OPTIMIZER_H_
