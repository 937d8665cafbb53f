#include "common/base/signals.h"

#include <atomic>
#include <csignal>

namespace tributary {

struct SignalWatcher::State {
  std::atomic<int> received = 0;
  std::atomic<bool> ending = false;
};

SignalWatcher::SignalWatcher(StopSource& stop) : state_(std::make_unique<State>()) {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  thread_ = std::thread([signals, state = state_.get(), &stop] {
    while (true) {
      int signal = 0;
      if (sigwait(&signals, &signal) != 0) continue;
      if (state->ending.load()) return;
      state->received.store(signal);
      stop.Request();
    }
  });
}

SignalWatcher::~SignalWatcher() {
  state_->ending.store(true);
  // The thread takes it with sigwait: nothing is terminated.
  // NOLINTNEXTLINE(bugprone-bad-signal-to-kill-thread)
  pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
}

int SignalWatcher::received() const {
  return state_->received.load();
}

}  // namespace tributary
