// DataSpec, as it is written, to DataConfig: defaults filled in, everything checked that can be
// without opening a data file.
#ifndef TRIBUTARY_COMMON_JOB_DATA_CHECK_H_
#define TRIBUTARY_COMMON_JOB_DATA_CHECK_H_

#include "absl/status/statusor.h"
#include "common/job/checks.h"
#include "common/job/job.h"
#include "common/model/model_plan.h"
#include "tributary/v1/job.pb.h"

namespace tributary {

absl::StatusOr<DataConfig> CheckData(const v1::DataSpec& spec, const ModelPlan& model,
                                     const Checks& checks);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_DATA_CHECK_H_
