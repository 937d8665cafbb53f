#include "common/net/fetch_job.h"

#include "common/base/status_macros.h"
#include "common/net/channel.h"

namespace tributary {

absl::StatusOr<FetchedJob> FetchJob(v1::Coordinator::StubInterface& coordinator,
                                    const RetryOptions& options, StopSource& stop) {
  v1::GetJobRequest request;
  request.set_protocol_version(kProtocolVersion);
  v1::GetJobResponse response;
  RETURN_IF_ERROR(CallWithRetry(options, stop, [&](grpc::ClientContext& context) {
    return coordinator.GetJob(&context, request, &response);
  }));
  FetchedJob fetched;
  ASSIGN_OR_RETURN(fetched.job.job, JobFromSpec(response.job()));
  fetched.job.spec = response.job();
  fetched.identity = {response.job_id(), response.generation()};
  RETURN_IF_ERROR(CheckJobShape(response.shards(), response.chunk_elements()));
  fetched.shards = static_cast<ShardId>(response.shards());
  fetched.chunk_elements = static_cast<int64_t>(response.chunk_elements());
  fetched.shard_addresses.assign(response.shard_address().begin(), response.shard_address().end());
  if (!fetched.shard_addresses.empty() && fetched.shard_addresses.size() != response.shards()) {
    return absl::InvalidArgumentError("shard_address: found another number than `shards`");
  }
  return fetched;
}

}  // namespace tributary
