// One server process of a job: shard k of S behind a port. Shard 0's process has the coordinator
// too and is told the job; the others fetch the job from it.
//
//   StopSource stop;
//   ASSIGN_OR_RETURN(auto server, ShardServer::CreateCoordinating(job, options));
//   RETURN_IF_ERROR(server->Run(stop));      // until the job is done
#ifndef TRIBUTARY_SERVER_SERVICE_SHARD_SERVER_H_
#define TRIBUTARY_SERVER_SERVICE_SHARD_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "common/base/stop.h"
#include "common/job/job_file.h"
#include "common/net/channel.h"
#include "server/shard/shard.h"

namespace tributary {

class ShardServer {
 public:
  struct Options {
    ShardId shards = 1;
    std::string listen = "127.0.0.1:0";  // HOST:PORT, port 0: any that is free
    std::string advertise;               // what peers are told; empty: as `listen`
  };

  struct CoordinatingOptions : Options {
    std::string model_out;    // written at the end, unless empty
    std::string result_json;  // likewise
    // A worker that has not been heard of for so long loses its slots; a shard, the job.
    double lease_seconds = 10;
    int64_t chunk_elements = kChunkElements;
    // How long to stay, once the job is over, for peers that have not heard of it.
    absl::Duration goodbye_patience = absl::Seconds(5);
  };

  struct FollowingOptions : Options {
    ShardId shard = 1;
    std::string coordinator;  // HOST:PORT
    absl::Duration peer_timeout = absl::Seconds(60);
  };

  // Shard 0, which listens when this returns. Errors: INVALID_ARGUMENT for an address;
  // UNAVAILABLE when it cannot be listened on.
  static absl::StatusOr<std::unique_ptr<ShardServer>> CreateCoordinating(
      const LoadedJob& job, const CoordinatingOptions& options);
  // Another shard, likewise.
  static absl::StatusOr<std::unique_ptr<ShardServer>> CreateFollowing(
      const FollowingOptions& options);

  virtual ~ShardServer() = default;

  // HOST:PORT as peers are told.
  virtual const std::string& address() const = 0;

  // Serves until the job is done and everybody knows, or `stop`: both OK. Errors: why the job has
  // failed, in the coordinator's words; a peer that is away for too long. To be called once.
  virtual absl::Status Run(StopSource& stop) = 0;

  // The shard; nullptr before the job is known. After Run it has the job's last version.
  virtual Shard* shard() = 0;
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SERVICE_SHARD_SERVER_H_
