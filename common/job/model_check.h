// ModelSpec, as it is written, to ModelPlan: defaults filled in, everything checked.
#ifndef TRIBUTARY_COMMON_JOB_MODEL_CHECK_H_
#define TRIBUTARY_COMMON_JOB_MODEL_CHECK_H_

#include "absl/status/statusor.h"
#include "common/job/checks.h"
#include "common/model/model_plan.h"
#include "tributary/v1/job.pb.h"

namespace tributary {

// Errors: INVALID_ARGUMENT; those of PlanModel get the place of the layer, or of the field in it.
absl::StatusOr<ModelPlan> CheckModel(const v1::ModelSpec& spec, const Checks& checks);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_MODEL_CHECK_H_
