// SIGTERM and SIGINT as a request to stop.
#ifndef TRIBUTARY_COMMON_BASE_SIGNALS_H_
#define TRIBUTARY_COMMON_BASE_SIGNALS_H_

#include <memory>
#include <thread>

#include "common/base/stop.h"

namespace tributary {

// Blocks SIGTERM and SIGINT for the calling thread and every thread that it starts from now on, and
// waits for them on a thread of its own, which then requests the stop. Make one at the start of
// main, before any other thread; `stop` must outlive it. SIGPIPE is ignored: a peer that goes away
// is an error of the write.
class SignalWatcher {
 public:
  explicit SignalWatcher(StopSource& stop);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  // The signal that came, 0 if none did.
  int received() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::thread thread_;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_BASE_SIGNALS_H_
