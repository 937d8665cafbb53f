#include "common/training/batch_plan.h"

#include <algorithm>

namespace tributary {

BatchPlan::BatchPlan(int64_t train_samples, int64_t global_batch, int32_t slots, int64_t epochs,
                     int64_t max_steps)
    : train_samples_(train_samples),
      global_batch_(std::min(global_batch, train_samples)),
      slots_(slots),
      steps_per_epoch_((train_samples + global_batch_ - 1) / global_batch_),
      total_steps_(steps_per_epoch_ * epochs) {
  if (max_steps > 0) total_steps_ = std::min(total_steps_, max_steps);
}

SampleRange BatchPlan::StepSamples(Step step) const {
  const int64_t begin = step % steps_per_epoch_ * global_batch_;
  return {begin, std::min(begin + global_batch_, train_samples_)};
}

SampleRange BatchPlan::SlotSamples(Step step, int32_t slot) const {
  const SampleRange batch = StepSamples(step);
  return {batch.begin + batch.size() * slot / slots_,
          batch.begin + batch.size() * (slot + 1) / slots_};
}

}  // namespace tributary
