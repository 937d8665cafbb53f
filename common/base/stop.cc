#include "common/base/stop.h"

#include <utility>

namespace tributary {

void StopSource::Request() {
  {
    absl::MutexLock lock(&mutex_);
    // One thread runs the callbacks, so that `running_id_` says all there is to say.
    if (requested_) return;
    requested_ = true;
  }
  while (true) {
    std::function<void()> callback;
    {
      absl::MutexLock lock(&mutex_);
      running_id_ = UINT64_MAX;
      if (callbacks_.empty()) return;
      const auto first = callbacks_.begin();
      running_id_ = first->first;
      callback = std::move(first->second);
      callbacks_.erase(first);
    }
    callback();
  }
}

bool StopSource::requested() const {
  absl::MutexLock lock(&mutex_);
  return requested_;
}

bool StopSource::WaitFor(absl::Duration duration) const {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&requested_), duration);
}

StopSource::Registration::Registration(StopSource& source, std::function<void()> callback)
    : source_(source), id_(0) {
  {
    absl::MutexLock lock(&source_.mutex_);
    id_ = source_.next_id_++;
    if (!source_.requested_) {
      source_.callbacks_.emplace(id_, std::move(callback));
      return;
    }
  }
  callback();
}

StopSource::Registration::~Registration() {
  const auto is_not_running = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(source_.mutex_) {
    return source_.running_id_ != id_;
  };
  absl::MutexLock lock(&source_.mutex_);
  source_.callbacks_.erase(id_);
  source_.mutex_.Await(absl::Condition(&is_not_running));
}

}  // namespace tributary
