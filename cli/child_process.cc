#include "cli/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tributary {
namespace {

// glibc 2.36 declares pidfd_open without C linkage.
int PidDescriptor(pid_t pid) {
  return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
}

constexpr int kMaxTailBytes = 8192;

// Everything that the child does before exec; made before fork, because between the two only
// async-signal-safe functions may run.
struct ChildPlan {
  std::vector<char*> arguments;
  int log = -1;
  int null = -1;
  int error_pipe = -1;  // closed by exec; carries errno if exec fails
  pid_t parent = 0;
};

[[noreturn]] void BecomeProgram(const ChildPlan& plan) {
  ::setpgid(0, 0);
  // The parent may have died before prctl ran: then nobody will send the signal.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != plan.parent) ::_exit(1);
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGINT, SIG_DFL);
  ::signal(SIGTERM, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(plan.null, STDIN_FILENO);
  ::dup2(plan.log, STDOUT_FILENO);
  ::dup2(plan.log, STDERR_FILENO);
  ::execv(plan.arguments[0], plan.arguments.data());
  const int error = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(plan.error_pipe, &error, sizeof error);
  ::_exit(127);
}

void WaitUntilEnded(pid_t pid) {
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

std::string DescribeEnd(const ProcessEnd& end) {
  if (end.signal == 0) return absl::StrCat("exit code ", end.code);
  return absl::StrCat("signal ", end.signal, " (", ::strsignal(end.signal), ")");
}

absl::StatusOr<ChildProcess> ChildProcess::Start(const std::vector<std::string>& command,
                                                 const std::string& log_path) {
  ChildPlan plan;
  std::vector<std::string> arguments = command;
  for (std::string& argument : arguments) plan.arguments.push_back(argument.data());
  plan.arguments.push_back(nullptr);
  plan.parent = ::getpid();

  plan.log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (plan.log < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat(log_path, ": cannot be written"));
  const absl::Cleanup close_log = [&] { ::close(plan.log); };
  plan.null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (plan.null < 0) return absl::ErrnoToStatus(errno, "/dev/null: cannot be opened");
  const absl::Cleanup close_null = [&] { ::close(plan.null); };
  std::array<int, 2> error_pipe{};
  if (::pipe2(error_pipe.data(), O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  const absl::Cleanup close_read_end = [&] { ::close(error_pipe[0]); };
  plan.error_pipe = error_pipe[1];

  const pid_t pid = ::fork();
  if (pid == 0) BecomeProgram(plan);
  const int fork_error = errno;
  ::close(error_pipe[1]);
  if (pid < 0) {
    return absl::ErrnoToStatus(fork_error, absl::StrCat(command[0], ": cannot be started"));
  }

  int exec_error = 0;
  ssize_t count = 0;
  do {
    count = ::read(error_pipe[0], &exec_error, sizeof exec_error);
  } while (count < 0 && errno == EINTR);
  if (count > 0) {
    WaitUntilEnded(pid);
    return absl::ErrnoToStatus(exec_error, absl::StrCat(command[0], ": cannot be started"));
  }
  const int descriptor = PidDescriptor(pid);
  if (descriptor < 0) {
    const int error = errno;
    ::kill(pid, SIGKILL);
    WaitUntilEnded(pid);
    return absl::ErrnoToStatus(error, absl::StrCat(command[0], ": cannot be watched"));
  }
  return ChildProcess(pid, descriptor, log_path);
}

ChildProcess::ChildProcess(pid_t pid, int descriptor, std::string log_path)
    : pid_(pid), descriptor_(descriptor), log_path_(std::move(log_path)) {}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(other.pid_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      log_path_(std::move(other.log_path_)),
      end_(other.end_) {}

ChildProcess::~ChildProcess() {
  if (descriptor_ < 0) return;
  if (!Check()) {
    Signal(SIGKILL);
    WaitUntilEnded(pid_);
  }
  ::close(descriptor_);
}

bool ChildProcess::Check() {
  if (end_.has_value()) return true;
  int status = 0;
  pid_t pid = 0;
  do {
    pid = ::waitpid(pid_, &status, WNOHANG);
  } while (pid < 0 && errno == EINTR);
  if (pid == 0) return false;
  end_.emplace();
  if (pid > 0 && WIFSIGNALED(status)) {
    end_->signal = WTERMSIG(status);
  } else {
    // Someone else's wait took the status (pid < 0): never taken for success.
    end_->code = pid > 0 ? WEXITSTATUS(status) : 1;
  }
  return true;
}

void ChildProcess::Signal(int signal) const {
  if (!end_.has_value()) ::kill(pid_, signal);
}

std::vector<std::string> LastLines(const std::string& path, size_t max_lines) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  const std::streamoff start = std::max<std::streamoff>(0, size - kMaxTailBytes);
  file.seekg(start);
  std::string text(static_cast<size_t>(size - start), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));

  std::vector<std::string> lines = absl::StrSplit(text, '\n');
  // The file was cut in the middle of a line.
  if (start > 0 && lines.size() > 1) lines.erase(lines.begin());
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.size() > max_lines)
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(max_lines));
  return lines;
}

}  // namespace tributary
