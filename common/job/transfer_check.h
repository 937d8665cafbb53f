// TransferSpec, as it is written, to TransferConfig: defaults filled in, everything checked.
#ifndef TRIBUTARY_COMMON_JOB_TRANSFER_CHECK_H_
#define TRIBUTARY_COMMON_JOB_TRANSFER_CHECK_H_

#include "absl/status/statusor.h"
#include "common/job/checks.h"
#include "common/job/job.h"
#include "tributary/v1/job.pb.h"

namespace tributary {

absl::StatusOr<TransferConfig> CheckTransfer(const v1::TransferSpec& spec, const Checks& checks);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_TRANSFER_CHECK_H_
