#include "cli/interrupts.h"

#include <sys/signalfd.h>
#include <unistd.h>

namespace tributary {
namespace {

bool IsIgnored(int signal) {
  struct sigaction action {};
  return ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t WatchedSignals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  if (!IsIgnored(SIGHUP)) ::sigaddset(&signals, SIGHUP);
  return signals;
}

}  // namespace

Interrupts::Interrupts() {
  std::signal(SIGPIPE, SIG_IGN);
  const sigset_t signals = WatchedSignals();
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  descriptor_ = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}

Interrupts::~Interrupts() {
  ::close(descriptor_);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int Interrupts::Take() {
  signalfd_siginfo information{};
  const ssize_t count = ::read(descriptor_, &information, sizeof information);
  return count == sizeof information ? static_cast<int>(information.ssi_signo) : 0;
}

void Interrupts::LetNextOneKill() {
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace tributary
