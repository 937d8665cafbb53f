// A program that this one started and answers for: it never outlives its parent, is always waited
// for, and writes its output to a log file.
#ifndef TRIBUTARY_CLI_CHILD_PROCESS_H_
#define TRIBUTARY_CLI_CHILD_PROCESS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tributary {

// How a process ended: with an exit code, or by a signal.
struct ProcessEnd {
  int code = 0;    // if signal is 0
  int signal = 0;  // 0: it exited by itself

  bool is_success() const { return code == 0 && signal == 0; }
};

// "exit code 3", "signal 9 (Killed)".
std::string DescribeEnd(const ProcessEnd& end);

// Not thread-safe.
class ChildProcess {
 public:
  // Starts `command` (the program's path, then its arguments) with standard output and error
  // written to `log_path` (created or emptied), standard input empty, no signal blocked, and in a
  // process group of its own, so that a terminal's Ctrl-C reaches this program alone and the order
  // of the shutdown is ours. The kernel sends it SIGTERM when the *thread* that called Start ends,
  // whatever the reason (PR_SET_PDEATHSIG): call it from the main thread. Errors: the path and the
  // system's reason.
  static absl::StatusOr<ChildProcess> Start(const std::vector<std::string>& command,
                                            const std::string& log_path);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  // Kills it if it still runs, and waits for it.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  // Becomes readable (poll, POLLIN) when the process has ended.
  int descriptor() const { return descriptor_; }
  const std::string& log_path() const { return log_path_; }

  // Looks whether the process has ended, without waiting; true if it has.
  bool Check();
  // Set once Check has seen the end.
  const std::optional<ProcessEnd>& end() const { return end_; }

  // Nothing happens to a process that has ended.
  void Signal(int signal) const;

 private:
  ChildProcess(pid_t pid, int descriptor, std::string log_path);

  pid_t pid_;
  int descriptor_;  // a pidfd; -1 once moved from
  std::string log_path_;
  std::optional<ProcessEnd> end_;
};

// The last lines of a text file, at most `max_lines` and a few KiB, without empty ones at the end.
// Empty if the file cannot be read.
std::vector<std::string> LastLines(const std::string& path, size_t max_lines);

}  // namespace tributary

#endif  // TRIBUTARY_CLI_CHILD_PROCESS_H_
