// The optimizer and the learning rate, as they are written, to their plain structs: defaults filled
// in, everything checked.
#ifndef TRIBUTARY_COMMON_JOB_RULES_CHECK_H_
#define TRIBUTARY_COMMON_JOB_RULES_CHECK_H_

#include "absl/status/statusor.h"
#include "common/job/checks.h"
#include "common/job/job.h"
#include "tributary/v1/job.pb.h"

namespace tributary {

absl::StatusOr<OptimizerConfig> CheckOptimizer(const v1::OptimizerSpec& spec, const Checks& checks);

absl::StatusOr<LearningRateConfig> CheckLearningRate(const v1::LearningRateSpec& spec,
                                                     const Checks& checks);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_RULES_CHECK_H_
