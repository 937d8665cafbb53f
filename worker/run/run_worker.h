// A worker, from finding the coordinator to leaving the job.
#ifndef TRIBUTARY_WORKER_RUN_RUN_WORKER_H_
#define TRIBUTARY_WORKER_RUN_RUN_WORKER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/stop.h"

namespace tributary {

struct WorkerOptions {
  std::string coordinator;  // HOST:PORT of shard 0
  std::string name;         // for people
  std::string data_dir;     // overrides the job's, unless empty
  int threads = 1;
  // How long a server that was there may be away.
  absl::Duration peer_timeout = absl::Seconds(60);
};

// Trains until the job is done. Waits for the servers as long as it takes, and says so in the log.
// Errors: CANCELLED after `stop`; ABORTED when the job has failed; UNAVAILABLE when a server is
// gone; INVALID_ARGUMENT, NOT_FOUND and FAILED_PRECONDITION for a job, data or peer that do not
// fit.
absl::Status RunWorker(const WorkerOptions& options, StopSource& stop);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_RUN_RUN_WORKER_H_
