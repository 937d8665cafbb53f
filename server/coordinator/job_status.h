// The state of a job as people and programs see it (GetStatus).
#ifndef TRIBUTARY_SERVER_COORDINATOR_JOB_STATUS_H_
#define TRIBUTARY_SERVER_COORDINATOR_JOB_STATUS_H_

#include "common/job/job.h"
#include "common/training/run_result.h"
#include "server/coordinator/coordinator.h"
#include "tributary/v1/training.pb.h"

namespace tributary {

v1::Phase ToProto(Phase phase);

// Everything but job_id and generation.
v1::JobStatus MakeJobStatus(const Coordinator& coordinator, const Job& job, ShardId shards);

// What a finished job came to. The coordinator has at least one evaluation.
RunResult MakeRunResult(const Coordinator& coordinator);

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_COORDINATOR_JOB_STATUS_H_
