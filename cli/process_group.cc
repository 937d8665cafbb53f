#include "cli/process_group.h"

#include <poll.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/time/clock.h"
#include "common/base/exit_codes.h"
#include "common/base/status_macros.h"

namespace tributary {
namespace {

// poll's argument is an int of milliseconds.
constexpr absl::Duration kLongestPoll = absl::Hours(1);

int PollMilliseconds(absl::Duration patience) {
  if (patience <= absl::ZeroDuration()) return 0;
  const absl::Duration bounded = std::min(patience, kLongestPoll);
  return static_cast<int>(absl::ToInt64Milliseconds(bounded)) + 1;
}

}  // namespace

bool ProcessGroup::Member::has_failed() const {
  const std::optional<ProcessEnd>& end = process.end();
  if (!end.has_value() || end->is_success()) return false;
  // What Stop sends ends a program that has not yet set up its own way to end.
  const bool is_our_signal =
      sent_signal != 0 && (end->signal == SIGTERM || end->signal == sent_signal);
  return !is_our_signal;
}

absl::Status ProcessGroup::Start(const std::string& name, const std::vector<std::string>& command,
                                 const std::string& log_path) {
  ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::Start(command, log_path));
  members_.push_back({name, std::move(process)});
  return absl::OkStatus();
}

bool ProcessGroup::AllEnded() const {
  return std::all_of(members_.begin(), members_.end(),
                     [](const Member& member) { return member.has_ended(); });
}

const ProcessGroup::Member* ProcessGroup::WorstFailure() const {
  const auto rank = [](const Member& member) {
    const ProcessEnd& end = *member.process.end();
    const int kind = end.signal != 0 ? 1 : end.code == kExitBadInput ? 2 : 0;
    return std::pair(kind, -member.end_order);
  };
  const Member* worst = nullptr;
  for (const Member& member : members_) {
    if (!member.has_failed()) continue;
    if (worst == nullptr || rank(member) > rank(*worst)) worst = &member;
  }
  return worst;
}

void ProcessGroup::Wait(int descriptor, absl::Duration patience) {
  std::vector<pollfd> watched = {{descriptor, POLLIN, 0}};
  for (const Member& member : members_) {
    if (!member.has_ended()) watched.push_back({member.process.descriptor(), POLLIN, 0});
  }
  ::poll(watched.data(), watched.size(), PollMilliseconds(patience));
  NoteEnds();
}

bool ProcessGroup::Stop(absl::Duration patience, Interrupts& interrupts) {
  const absl::Time deadline = absl::Now() + patience;
  SendToAll(SIGTERM);
  bool is_killing = false;
  while (!AllEnded()) {
    Wait(is_killing ? -1 : interrupts.descriptor(),
         is_killing ? absl::InfiniteDuration() : deadline - absl::Now());
    const bool is_time = absl::Now() >= deadline || interrupts.Take() != 0;
    if (is_killing || !is_time || AllEnded()) continue;
    is_killing = true;
    SendToAll(SIGKILL);
  }
  return is_killing;
}

void ProcessGroup::NoteEnds() {
  for (Member& member : members_) {
    if (member.end_order == 0 && member.process.Check()) member.end_order = ++ended_;
  }
}

void ProcessGroup::SendToAll(int signal) {
  NoteEnds();
  for (Member& member : members_) {
    if (member.has_ended()) continue;
    member.sent_signal = signal;
    member.process.Signal(signal);
  }
}

}  // namespace tributary
