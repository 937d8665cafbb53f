// How the training goes: loss, accuracy and speed over the last steps, for people.
#ifndef TRIBUTARY_SERVER_COORDINATOR_PROGRESS_H_
#define TRIBUTARY_SERVER_COORDINATOR_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "common/base/types.h"

namespace tributary {

// One whole evaluation on the test set.
struct EvaluationSummary {
  Version version = 0;
  BatchStatistics statistics;
};

// Keeps the last kWindow steps. Time does not count while an evaluation is going on.
class ProgressMeter {
 public:
  static constexpr size_t kWindow = 100;

  // The clock runs from here: the first step begins, or training goes on after an evaluation.
  void Resume(double now_seconds);
  void Pause(double now_seconds);
  void AddStep(const BatchStatistics& statistics, double now_seconds);

  double loss() const;               // mean per sample over the window
  double accuracy() const;           // share of correct samples over the window
  double images_per_second() const;  // over the window
  double seconds() const { return elapsed_; }
  int64_t images() const { return images_; }
  int64_t skipped_steps() const { return skipped_; }

 private:
  struct Entry {
    BatchStatistics statistics;
    double seconds = 0;  // elapsed_ when the step ended
  };

  std::deque<Entry> window_;
  double window_start_ = 0;  // elapsed_ when the window's first step began
  double elapsed_ = 0;
  double mark_ = 0;
  bool running_ = false;
  int64_t images_ = 0;
  int64_t skipped_ = 0;
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_COORDINATOR_PROGRESS_H_
