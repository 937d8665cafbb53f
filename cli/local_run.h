// Training in one process without a network: the same slots, tree, optimizer and order of the data
// as a cluster, and so the same bits. What every distributed run is checked against.
#ifndef TRIBUTARY_CLI_LOCAL_RUN_H_
#define TRIBUTARY_CLI_LOCAL_RUN_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "common/job/job_file.h"
#include "common/training/run_result.h"
#include "tributary/v1/training.pb.h"

namespace tributary {

struct LocalRunOptions {
  int threads = 1;        // compute threads; the bits do not depend on it
  std::string data_dir;   // overrides the job's, unless empty
  std::string model_out;  // safetensors file to write at the end, unless empty
  // Called about four times a second from a thread of its own, and once at the end.
  std::function<void(const v1::JobStatus&)> progress;
  // Asked between steps; when it returns true the run ends with CANCELLED.
  std::function<bool()> cancelled;
};

// Errors: CANCELLED; those of the data, the network and the model file.
absl::StatusOr<RunResult> RunLocally(const LoadedJob& job, const LocalRunOptions& options);

}  // namespace tributary

#endif  // TRIBUTARY_CLI_LOCAL_RUN_H_
