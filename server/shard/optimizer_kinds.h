// The optimizers there are, one a file: what CreateOptimizer chooses from.
#ifndef TRIBUTARY_SERVER_SHARD_OPTIMIZER_KINDS_H_
#define TRIBUTARY_SERVER_SHARD_OPTIMIZER_KINDS_H_

#include <memory>

#include "common/job/job.h"
#include "server/shard/optimizer.h"
#include "server/shard/optimizer_runs.h"

namespace tributary {

// `runs` says which elements have weight decay, and how long the range is.
std::unique_ptr<Optimizer> CreateSgd(const SgdConfig& config, DecayRuns runs);
std::unique_ptr<Optimizer> CreateAdam(const AdamConfig& config, DecayRuns runs);
std::unique_ptr<Optimizer> CreateAdaGrad(const AdaGradConfig& config, DecayRuns runs);

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SHARD_OPTIMIZER_KINDS_H_
