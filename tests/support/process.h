// Programs run by tests: started, signalled, waited for with a timeout, their output captured; and
// what they left running.
#ifndef TRIBUTARY_TESTS_SUPPORT_PROCESS_H_
#define TRIBUTARY_TESTS_SUPPORT_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"

namespace tributary {

struct ProcessOutcome {
  bool timed_out = false;  // it was killed because it had not ended in time
  int exit_code = -1;      // -1: a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

// A running program. Its standard input is empty; its output is read while one of the Wait
// functions runs. Not thread-safe.
class Process {
 public:
  struct Options {
    std::vector<std::string> environment;  // "NAME=value", besides this process's own
    std::string working_folder;            // empty: this process's
    bool own_group = false;                // a process group of its own, as a shell gives to a job
  };

  // `command` is the program's path (or a name that is looked up in PATH) and its arguments. A
  // program that cannot be started gives nullptr, and a line on standard error.
  static std::unique_ptr<Process> Start(const std::vector<std::string>& command,
                                        const Options& options);
  static std::unique_ptr<Process> Start(const std::vector<std::string>& command) {
    return Start(command, Options{});
  }

  // Kills it if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const;
  void SignalGroup(int signal) const;  // with Options::own_group

  // Until the output so far has `text`, or the program has ended, or `patience` is over; returns
  // whether the text is there.
  bool WaitForOut(const std::string& text, absl::Duration patience);
  bool WaitForErr(const std::string& text, absl::Duration patience);

  // Until the program has ended; kills it when `patience` is over.
  ProcessOutcome Wait(absl::Duration patience);

 private:
  Process(pid_t pid, int pid_descriptor, int out, int err)
      : pid_(pid), pid_descriptor_(pid_descriptor), out_descriptor_(out), err_descriptor_(err) {}

  bool ReadUntil(const std::function<bool()>& is_met, absl::Duration patience);
  void Reap();

  pid_t pid_;
  int pid_descriptor_;
  int out_descriptor_;  // -1 once closed
  int err_descriptor_;
  bool has_ended_ = false;
  ProcessOutcome outcome_;
};

// Start and Wait.
ProcessOutcome RunProcess(const std::vector<std::string>& command,
                          const Process::Options& options = {},
                          absl::Duration patience = absl::Seconds(60));

// Adopts what the programs of a test leave running (PR_SET_CHILD_SUBREAPER), so that it is seen.
// One at a time; no other children may be running when it is asked.
class OrphanCatcher {
 public:
  OrphanCatcher();
  ~OrphanCatcher();
  OrphanCatcher(const OrphanCatcher&) = delete;
  OrphanCatcher& operator=(const OrphanCatcher&) = delete;

  // "1234 (tributary-worker)" for each process that is left once `patience` is over; returns as
  // soon as there is none. Those that are left are killed.
  std::vector<std::string> Remaining(absl::Duration patience = absl::ZeroDuration());
};

// The folder that this program lies in, where the build puts the other programs too.
std::string ProgramFolder();

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_SUPPORT_PROCESS_H_
