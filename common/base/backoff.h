// Waiting times between tries: exponential, with jitter, bounded ("full jitter": Brooker,
// "Exponential backoff and jitter", AWS architecture blog).
#ifndef TRIBUTARY_COMMON_BASE_BACKOFF_H_
#define TRIBUTARY_COMMON_BASE_BACKOFF_H_

#include <algorithm>
#include <random>

namespace tributary {

class Backoff {
 public:
  Backoff(double first_seconds, double most_seconds)
      : first_(first_seconds), most_(most_seconds), next_(first_seconds) {}

  // Half of the current step at least, so that a waiting cluster does not spin.
  double NextSeconds() {
    const double wait = next_ * std::uniform_real_distribution<double>(0.5, 1.0)(random_);
    next_ = std::min(next_ * 2, most_);
    return wait;
  }
  void Reset() { next_ = first_; }

 private:
  double first_;
  double most_;
  double next_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_BASE_BACKOFF_H_
