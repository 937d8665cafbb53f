// What a training run amounts to, however it was run.
#ifndef TRIBUTARY_COMMON_TRAINING_RUN_RESULT_H_
#define TRIBUTARY_COMMON_TRAINING_RUN_RESULT_H_

#include <cstdint>

namespace tributary {

struct RunResult {
  int64_t test_count = 0;
  int64_t test_correct = 0;
  double test_loss = 0;  // mean
  int64_t steps = 0;
  int64_t images = 0;  // trained on
  double seconds = 0;  // from the first step to the last

  double test_accuracy() const {
    return test_count > 0 ? static_cast<double>(test_correct) / static_cast<double>(test_count) : 0;
  }
  double images_per_second() const {
    return seconds > 0 ? static_cast<double>(images) / seconds : 0;
  }
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_TRAINING_RUN_RESULT_H_
