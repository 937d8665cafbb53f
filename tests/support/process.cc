#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/time/clock.h"

namespace tributary {
namespace {

// glibc 2.36 declares pidfd_open without C linkage.
int PidDescriptor(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// This process's environment with the additions in place of variables of the same name.
std::vector<std::string> Environment(const std::vector<std::string>& additions) {
  std::vector<std::string> environment = additions;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string own = *entry;
    const std::string start = own.substr(0, own.find('=') + 1);
    const bool is_replaced = std::any_of(additions.begin(), additions.end(), [&](const auto& text) {
      return text.compare(0, start.size(), start) == 0;
    });
    if (!is_replaced) environment.push_back(own);
  }
  return environment;
}

// Reads what is there; closes the descriptor at its end.
void ReadAvailable(int& descriptor, std::string& text) {
  std::array<char, 65536> buffer;
  while (descriptor >= 0) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<size_t>(count));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else if (count < 0 && errno == EAGAIN) {
      return;
    } else {
      ::close(descriptor);
      descriptor = -1;
    }
  }
}

int MillisecondsUntil(absl::Time deadline) {
  const absl::Duration left = deadline - absl::Now();
  if (left <= absl::ZeroDuration()) return 0;
  return static_cast<int>(absl::ToInt64Milliseconds(left)) + 1;
}

}  // namespace

std::unique_ptr<Process> Process::Start(const std::vector<std::string>& command,
                                        const Options& options) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) return nullptr;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out[1], 1);
  posix_spawn_file_actions_adddup2(&actions, err[1], 2);
  if (!options.working_folder.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, options.working_folder.c_str());
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  const int group_flag = options.own_group ? POSIX_SPAWN_SETPGROUP : 0;
  posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | group_flag));

  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = Environment(options.environment);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, command[0].c_str(), &actions, &attributes,
                                   Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(out[1]);
  ::close(err[1]);
  if (error != 0) {
    std::fprintf(stderr, "%s: %s\n", command[0].c_str(), std::strerror(error));
    ::close(out[0]);
    ::close(err[0]);
    return nullptr;
  }
  ::fcntl(out[0], F_SETFL, O_NONBLOCK);
  ::fcntl(err[0], F_SETFL, O_NONBLOCK);
  return std::unique_ptr<Process>(new Process(pid, PidDescriptor(pid), out[0], err[0]));
}

Process::~Process() {
  if (!has_ended_) {
    Signal(SIGKILL);
    Reap();
  }
  if (out_descriptor_ >= 0) ::close(out_descriptor_);
  if (err_descriptor_ >= 0) ::close(err_descriptor_);
  ::close(pid_descriptor_);
}

void Process::Signal(int signal) const {
  if (!has_ended_) ::kill(pid_, signal);
}

void Process::SignalGroup(int signal) const {
  if (!has_ended_) ::kill(-pid_, signal);
}

bool Process::WaitForOut(const std::string& text, absl::Duration patience) {
  return ReadUntil([&] { return outcome_.out.find(text) != std::string::npos; }, patience);
}

bool Process::WaitForErr(const std::string& text, absl::Duration patience) {
  return ReadUntil([&] { return outcome_.err.find(text) != std::string::npos; }, patience);
}

ProcessOutcome Process::Wait(absl::Duration patience) {
  if (!ReadUntil([&] { return has_ended_; }, patience)) {
    outcome_.timed_out = true;
    Signal(SIGKILL);
    ReadUntil([&] { return has_ended_; }, absl::InfiniteDuration());
  }
  return outcome_;
}

bool Process::ReadUntil(const std::function<bool()>& is_met, absl::Duration patience) {
  const absl::Time deadline =
      absl::Now() + std::min(patience, absl::Hours(24));  // poll takes milliseconds in an int
  while (!is_met() && !has_ended_) {
    std::array<pollfd, 3> watched = {pollfd{out_descriptor_, POLLIN, 0},
                                     pollfd{err_descriptor_, POLLIN, 0},
                                     pollfd{pid_descriptor_, POLLIN, 0}};
    const int ready = ::poll(watched.data(), watched.size(), MillisecondsUntil(deadline));
    if (ready == 0) break;
    // First whether it ended, then its last words.
    if (watched[2].revents != 0) Reap();
    ReadAvailable(out_descriptor_, outcome_.out);
    ReadAvailable(err_descriptor_, outcome_.err);
  }
  return is_met();
}

void Process::Reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  has_ended_ = true;
  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
}

ProcessOutcome RunProcess(const std::vector<std::string>& command, const Process::Options& options,
                          absl::Duration patience) {
  const std::unique_ptr<Process> process = Process::Start(command, options);
  if (process == nullptr) return {};
  return process->Wait(patience);
}

namespace {

struct Relative {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';
  std::string name;
};

// Source of the format: proc(5), /proc/[pid]/stat. The name stands in brackets and may have any
// character, so the last bracket ends it.
bool ReadProcess(const std::string& pid, Relative& process) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  const std::string line = text.str();
  const size_t open = line.find('(');
  const size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return false;
  process.name = line.substr(open + 1, close - open - 1);
  std::istringstream rest(line.substr(close + 1));
  process.pid = static_cast<pid_t>(std::stol(pid));
  return static_cast<bool>(rest >> process.state >> process.parent);
}

std::vector<Relative> Children() {
  std::vector<Relative> children;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    Relative process;
    if (!ReadProcess(name, process) || process.parent != ::getpid()) continue;
    if (process.state == 'Z') {
      ::waitpid(process.pid, nullptr, WNOHANG);
    } else {
      children.push_back(process);
    }
  }
  return children;
}

}  // namespace

OrphanCatcher::OrphanCatcher() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

OrphanCatcher::~OrphanCatcher() {
  Remaining();
  ::prctl(PR_SET_CHILD_SUBREAPER, 0);
}

std::vector<std::string> OrphanCatcher::Remaining(absl::Duration patience) {
  const absl::Time deadline = absl::Now() + patience;
  std::vector<Relative> children = Children();
  while (!children.empty() && absl::Now() < deadline) {
    absl::SleepFor(absl::Milliseconds(5));
    children = Children();
  }
  std::vector<std::string> names;
  for (const Relative& child : children) {
    names.push_back(std::to_string(child.pid) + " (" + child.name + ")");
    ::kill(child.pid, SIGKILL);
    ::waitpid(child.pid, nullptr, 0);
  }
  return names;
}

std::string ProgramFolder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace tributary
