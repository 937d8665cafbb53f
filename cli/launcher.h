// A cluster on this machine for one job: `tributary-server` processes, one per shard, and
// `tributary-worker` processes, on loopback ports that the system chooses.
//
//   server 0 (shard 0, coordinator) --writes its address--> servers 1.., workers --> all end with 0
//
// Everything that is started is ended before the function returns, and ends with this process if
// this process is killed.
#ifndef TRIBUTARY_CLI_LAUNCHER_H_
#define TRIBUTARY_CLI_LAUNCHER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/interrupts.h"
#include "common/training/run_result.h"

namespace tributary {

struct ClusterOptions {
  std::string program_folder;  // holds tributary-server and tributary-worker
  std::string job_file;
  std::vector<std::string> overrides;  // as of --set
  int servers = 1;
  int workers = 1;
  int threads = 1;         // compute threads per worker
  std::string model_out;   // written by shard 0, unless empty
  std::string log_folder;  // made if it is not there; empty: a temporary folder, kept on failure

  // Called once every process is started, with the coordinator's host:port.
  std::function<void(const std::string& address)> on_started;
  // Called with a line for people that does not end the run.
  std::function<void(const std::string& line)> note;
};

struct ClusterOutcome {
  int exit_code = 0;    // common/base/exit_codes.h
  std::string message;  // why it is not 0, one or more lines without a newline at the end
  RunResult result;     // if exit_code is 0
};

// Runs the job to its end. The job and its data should have been checked: a mistake that is found
// by a process gives that process's exit code and the end of its log. To be called from the main
// thread (child_process.h says why), before other threads are started. After an interrupt every
// process gets SIGTERM, and SIGKILL after five seconds or a second interrupt; the exit code is 128
// and the signal's number.
ClusterOutcome RunCluster(const ClusterOptions& options, Interrupts& interrupts);

}  // namespace tributary

#endif  // TRIBUTARY_CLI_LAUNCHER_H_
