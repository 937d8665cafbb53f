#include "cli/launcher.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "cli/files.h"
#include "cli/process_group.h"
#include "common/base/exit_codes.h"
#include "common/base/status_macros.h"
#include "common/formats/result_json.h"

namespace tributary {
namespace {

// A server listens within milliseconds; a loaded machine may need seconds.
constexpr absl::Duration kListenPatience = absl::Seconds(60);
constexpr absl::Duration kAddressFilePoll = absl::Milliseconds(10);
// Before shard 0 ends, the others have heard of it; but a worker that started after the end of a
// very short job waits for ever.
constexpr absl::Duration kEndPatience = absl::Seconds(3);
// Without workers shard 0 may still write the model, but not for longer than this.
constexpr absl::Duration kNoWorkersPatience = absl::Minutes(2);
constexpr absl::Duration kStopPatience = absl::Seconds(5);
constexpr size_t kLogTailLines = 15;

// One run, from the first process to the last.
class Cluster {
 public:
  Cluster(const ClusterOptions& options, Interrupts& interrupts, TemporaryFolder folder)
      : options_(options), interrupts_(interrupts), folder_(std::move(folder)) {}

  ClusterOutcome Run();

 private:
  absl::Status Start();
  absl::Status StartServer(int shard);
  absl::Status StartWorker(int worker);
  absl::Status StartProgram(const std::string& role, int number, std::vector<std::string> command);
  absl::Status WaitForAddress();

  // Waits for something to happen. False: the run is over, one way or the other.
  bool Wait(absl::Duration patience);
  absl::Status WaitForServer0();
  void EndTheOthers();

  ClusterOutcome Conclude(const absl::Status& status);
  ClusterOutcome Interrupted();
  ClusterOutcome MemberFailed(const ProcessGroup::Member& member);
  ClusterOutcome Failed(std::string message);
  ClusterOutcome Done();

  std::string AddressFile() const { return folder_.path() + "/address"; }
  std::string ResultFile() const { return folder_.path() + "/result.json"; }
  const std::string& LogFolder() const {
    return options_.log_folder.empty() ? folder_.path() : options_.log_folder;
  }
  bool WorkersHaveEnded() const;
  void Note(const std::string& line) const {
    if (options_.note) options_.note(line);
  }

  const ClusterOptions& options_;
  Interrupts& interrupts_;
  TemporaryFolder folder_;  // outlives the processes
  ProcessGroup processes_;
  std::string address_;
  int signal_ = 0;  // the interrupt that came
};

absl::Status Cluster::StartProgram(const std::string& role, int number,
                                   std::vector<std::string> command) {
  command.insert(command.begin(), absl::StrCat(options_.program_folder, "/tributary-", role));
  return processes_.Start(absl::StrCat(role, " ", number), command,
                          absl::StrCat(LogFolder(), "/", role, "-", number, ".log"));
}

absl::Status Cluster::StartServer(int shard) {
  std::vector<std::string> command = {"--shard",  absl::StrCat(shard),
                                      "--shards", absl::StrCat(options_.servers),
                                      "--listen", "127.0.0.1:0"};
  const auto add = [&command](const std::string& option, const std::string& value) {
    command.push_back(option);
    command.push_back(value);
  };
  if (shard > 0) {
    add("--coordinator", address_);
    return StartProgram("server", shard, std::move(command));
  }
  add("--address-file", AddressFile());
  add("--job", options_.job_file);
  for (const std::string& change : options_.overrides) add("--set", change);
  if (!options_.model_out.empty()) add("--model-out", options_.model_out);
  add("--result-json", ResultFile());
  return StartProgram("server", shard, std::move(command));
}

absl::Status Cluster::StartWorker(int worker) {
  return StartProgram("worker", worker,
                      {"--coordinator", address_, "--threads", absl::StrCat(options_.threads)});
}

bool Cluster::Wait(absl::Duration patience) {
  processes_.Wait(interrupts_.descriptor(), patience);
  if (signal_ == 0) signal_ = interrupts_.Take();
  return signal_ == 0 && processes_.WorstFailure() == nullptr;
}

absl::Status Cluster::WaitForAddress() {
  const absl::Time deadline = absl::Now() + kListenPatience;
  while (Wait(kAddressFilePoll)) {
    // The file appears whole.
    if (const absl::StatusOr<std::string> text = ReadFile(AddressFile()); text.ok()) {
      address_ = std::string(absl::StripAsciiWhitespace(*text));
      return absl::OkStatus();
    }
    if (processes_.AllEnded()) return absl::InternalError("server 0 ended before it listened");
    if (absl::Now() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("server 0 does not listen after ", absl::FormatDuration(kListenPatience)));
    }
  }
  return absl::OkStatus();
}

absl::Status Cluster::Start() {
  if (!options_.log_folder.empty()) {
    std::error_code error;
    std::filesystem::create_directories(options_.log_folder, error);
    if (error) {
      return absl::InternalError(absl::StrCat(options_.log_folder, ": ", error.message()));
    }
  }
  RETURN_IF_ERROR(StartServer(0));
  RETURN_IF_ERROR(WaitForAddress());
  if (address_.empty()) return absl::OkStatus();
  for (int shard = 1; shard < options_.servers; ++shard) RETURN_IF_ERROR(StartServer(shard));
  for (int worker = 0; worker < options_.workers; ++worker) RETURN_IF_ERROR(StartWorker(worker));
  if (options_.on_started) options_.on_started(address_);
  return absl::OkStatus();
}

bool Cluster::WorkersHaveEnded() const {
  const auto& members = processes_.members();
  return std::all_of(members.begin(), members.end(), [](const ProcessGroup::Member& member) {
    return member.has_ended() || !absl::StartsWith(member.name, "worker");
  });
}

absl::Status Cluster::WaitForServer0() {
  std::optional<absl::Time> deadline;
  while (Wait(deadline.has_value() ? *deadline - absl::Now() : absl::InfiniteDuration())) {
    if (processes_.members()[0].has_ended()) return absl::OkStatus();
    if (!WorkersHaveEnded()) continue;
    if (!deadline.has_value()) deadline = absl::Now() + kNoWorkersPatience;
    if (absl::Now() >= *deadline) {
      return absl::InternalError("every worker has ended, but the job is not done");
    }
  }
  return absl::OkStatus();
}

void Cluster::EndTheOthers() {
  const absl::Time deadline = absl::Now() + kEndPatience;
  while (!processes_.AllEnded() && absl::Now() < deadline && Wait(deadline - absl::Now())) {
  }
  if (processes_.AllEnded() || signal_ != 0 || processes_.WorstFailure() != nullptr) return;
  for (const ProcessGroup::Member& member : processes_.members()) {
    if (!member.has_ended()) {
      Note(absl::StrCat(member.name, " still runs although the job is done; it is stopped"));
    }
  }
}

ClusterOutcome Cluster::Run() {
  absl::Status status = Start();
  const bool is_running = status.ok() && signal_ == 0 && processes_.WorstFailure() == nullptr;
  if (is_running) status = WaitForServer0();
  if (status.ok() && signal_ == 0 && processes_.WorstFailure() == nullptr) EndTheOthers();
  return Conclude(status);
}

ClusterOutcome Cluster::Conclude(const absl::Status& status) {
  const bool was_running = !processes_.AllEnded();
  if (signal_ != 0 && was_running) {
    Note("interrupted: stopping every process (once more: at once)");
  }
  processes_.Stop(kStopPatience, interrupts_);
  if (signal_ != 0) return Interrupted();
  if (const ProcessGroup::Member* failure = processes_.WorstFailure(); failure != nullptr) {
    return MemberFailed(*failure);
  }
  if (!status.ok()) return Failed(std::string(status.message()));
  return Done();
}

ClusterOutcome Cluster::Interrupted() {
  return {.exit_code = 128 + signal_, .message = "interrupted", .result = {}};
}

ClusterOutcome Cluster::MemberFailed(const ProcessGroup::Member& member) {
  const ProcessEnd& end = *member.process.end();
  std::string message = absl::StrCat(member.name, " ended with ", DescribeEnd(end));
  const std::vector<std::string> tail = LastLines(member.process.log_path(), kLogTailLines);
  absl::StrAppend(&message, tail.empty() ? "; its log is empty" : "; the end of its log:");
  for (const std::string& line : tail) absl::StrAppend(&message, "\n  ", line);
  ClusterOutcome outcome = Failed(std::move(message));
  if (end.signal == 0 && end.code == kExitBadInput) outcome.exit_code = kExitBadInput;
  return outcome;
}

ClusterOutcome Cluster::Failed(std::string message) {
  if (!processes_.members().empty()) {
    if (options_.log_folder.empty()) folder_.Keep();
    absl::StrAppend(&message, "\nthe logs are in ", LogFolder());
  }
  return {.exit_code = kExitFailed, .message = std::move(message), .result = {}};
}

ClusterOutcome Cluster::Done() {
  const absl::StatusOr<std::string> text = ReadFile(ResultFile());
  if (!text.ok()) return Failed("server 0 ended without a result");
  absl::StatusOr<RunResult> result = ParseResultJson(*text);
  if (!result.ok()) {
    return Failed(absl::StrCat("server 0's result: ", result.status().message()));
  }
  return {.exit_code = kExitDone, .message = "", .result = *result};
}

}  // namespace

ClusterOutcome RunCluster(const ClusterOptions& options, Interrupts& interrupts) {
  absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create();
  if (!folder.ok()) {
    return {
        .exit_code = kExitFailed, .message = std::string(folder.status().message()), .result = {}};
  }
  return Cluster(options, interrupts, *std::move(folder)).Run();
}

}  // namespace tributary
