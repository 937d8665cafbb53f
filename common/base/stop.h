// A request to stop, that threads wait on and are called back by: what SIGTERM becomes.
#ifndef TRIBUTARY_COMMON_BASE_STOP_H_
#define TRIBUTARY_COMMON_BASE_STOP_H_

#include <cstdint>
#include <functional>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tributary {

class StopSource {
 public:
  // The first call runs the callbacks; a later one returns at once. Thread-safe, not to be called
  // from a signal handler.
  void Request();
  bool requested() const;

  // Sleeps for `duration` or until the request; returns whether it was requested.
  bool WaitFor(absl::Duration duration) const;

  // Runs `callback` on the request (at once if it has been made) while the registration lives. Its
  // destructor waits for a callback that is running.
  class Registration {
   public:
    Registration(StopSource& source, std::function<void()> callback);
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    StopSource& source_;
    uint64_t id_;
  };

 private:
  mutable absl::Mutex mutex_;
  bool requested_ ABSL_GUARDED_BY(mutex_) = false;
  uint64_t next_id_ ABSL_GUARDED_BY(mutex_) = 0;
  uint64_t running_id_ ABSL_GUARDED_BY(mutex_) = UINT64_MAX;
  std::map<uint64_t, std::function<void()>> callbacks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_BASE_STOP_H_
