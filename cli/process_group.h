// Several child processes that belong together: waited for at once, stopped together.
#ifndef TRIBUTARY_CLI_PROCESS_GROUP_H_
#define TRIBUTARY_CLI_PROCESS_GROUP_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "cli/child_process.h"
#include "cli/interrupts.h"

namespace tributary {

// Not thread-safe. The destructor kills what still runs.
class ProcessGroup {
 public:
  struct Member {
    std::string name;  // "worker 1"
    ChildProcess process;
    int sent_signal = 0;  // the last one that Stop sent
    int end_order = 0;    // 1 for the first whose end was seen, 0 while it runs

    bool has_ended() const { return process.end().has_value(); }
    // Ended by itself with something else than exit code 0, or not as it was asked to.
    bool has_failed() const;
  };

  // As ChildProcess::Start.
  absl::Status Start(const std::string& name, const std::vector<std::string>& command,
                     const std::string& log_path);

  const std::vector<Member>& members() const { return members_; }
  bool AllEnded() const;
  // The member whose end says most about what went wrong: one that was given bad input (exit code
  // 2), else one that a signal ended, else any; of equal ones the first that ended. Null if none
  // has failed.
  const Member* WorstFailure() const;

  // Sleeps until a member ends, `descriptor` becomes readable, or `patience` is over; then members'
  // ends are known. A readable descriptor or an end that nobody has noticed yet return at once.
  void Wait(int descriptor, absl::Duration patience);

  // Sends SIGTERM to all, and SIGKILL to those that still run after `patience` or when another
  // interrupt comes. Returns when all have ended. Returns whether SIGKILL was needed.
  bool Stop(absl::Duration patience, Interrupts& interrupts);

 private:
  void NoteEnds();
  void SendToAll(int signal);

  std::vector<Member> members_;
  int ended_ = 0;
};

}  // namespace tributary

#endif  // TRIBUTARY_CLI_PROCESS_GROUP_H_
