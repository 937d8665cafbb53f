// A shard's side of the coordinator's service, for shards in processes of their own: fetches the
// job, makes the shard known, watches the job's phase.
#ifndef TRIBUTARY_SERVER_SERVICE_COORDINATOR_LINK_H_
#define TRIBUTARY_SERVER_SERVICE_COORDINATOR_LINK_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/stop.h"
#include "common/net/fetch_job.h"
#include "tributary/v1/training.grpc.pb.h"

namespace tributary {

// Not thread-safe. Every wait ends with CANCELLED on a request to stop.
class CoordinatorLink {
 public:
  struct Options {
    std::string address;
    // How long a coordinator that was there may be silent.
    absl::Duration peer_timeout = absl::Seconds(60);
  };

  // `stop` must outlive the link.
  CoordinatorLink(const Options& options, StopSource& stop);

  // Asks until there is an answer, however long that takes, and says in the log what it waits for.
  // Errors: FAILED_PRECONDITION for another protocol, INVALID_ARGUMENT for a job that this version
  // does not take.
  absl::StatusOr<FetchedJob> FetchJob();

  // The next phase, as soon as it differs from the one in `request`, which is registered on the
  // way. Errors: UNAVAILABLE when the coordinator has been silent for the peer timeout.
  absl::StatusOr<v1::RegisterShardResponse> NextPhase(const v1::RegisterShardRequest& request);

 private:
  const Options options_;
  StopSource& stop_;
  const std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Coordinator::Stub> stub_;
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SERVICE_COORDINATOR_LINK_H_
