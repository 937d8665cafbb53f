// Asks a coordinator for its job.
#ifndef TRIBUTARY_COMMON_NET_FETCH_JOB_H_
#define TRIBUTARY_COMMON_NET_FETCH_JOB_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/stop.h"
#include "common/job/job_file.h"
#include "common/net/call_header.h"
#include "common/net/retry.h"
#include "tributary/v1/training.grpc.pb.h"

namespace tributary {

struct FetchedJob {
  LoadedJob job;
  JobIdentity identity;
  ShardId shards = 0;
  int64_t chunk_elements = 0;
  // Empty until every shard is known.
  std::vector<std::string> shard_addresses;
};

// Asks until there is an answer (`options` say for how long). Errors: FAILED_PRECONDITION for
// another protocol version; INVALID_ARGUMENT for a job that this version does not take.
absl::StatusOr<FetchedJob> FetchJob(v1::Coordinator::StubInterface& coordinator,
                                    const RetryOptions& options, StopSource& stop);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_NET_FETCH_JOB_H_
