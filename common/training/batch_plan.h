// Which samples are in slot s of step t: a pure function of the job and of the data set's size.
//
//   epoch e           |<------------------- samples in the epoch's order ------------------->|
//   steps             |  step 0 (global_batch)  |  step 1  |  ...   | last step (the rest)   |
//   slots of a step   |  0  |  1  |  2  |  3  |
//
// Every position of an epoch belongs to exactly one slot of one step. The last batch of an epoch
// may be smaller; with fewer samples than slots some slots are empty (their gradient is zero).
#ifndef TRIBUTARY_COMMON_TRAINING_BATCH_PLAN_H_
#define TRIBUTARY_COMMON_TRAINING_BATCH_PLAN_H_

#include <cstdint>

#include "common/base/types.h"

namespace tributary {

class BatchPlan {
 public:
  // All positive; `max_steps` 0 means no limit. epochs * ceil(train_samples / global_batch) must
  // fit into 62 bits (the job file's limits see to that).
  BatchPlan(int64_t train_samples, int64_t global_batch, int32_t slots, int64_t epochs,
            int64_t max_steps);

  int64_t steps_per_epoch() const { return steps_per_epoch_; }
  int64_t total_steps() const { return total_steps_; }
  int32_t slots() const { return slots_; }
  int64_t train_samples() const { return train_samples_; }

  int64_t EpochOf(Step step) const { return step / steps_per_epoch_; }
  bool IsLastOfEpoch(Step step) const { return (step + 1) % steps_per_epoch_ == 0; }

  // Positions in the order of the step's epoch.
  SampleRange StepSamples(Step step) const;
  // Slots differ by at most one sample: slot s of n samples has [s * n / slots, (s + 1) * n /
  // slots).
  SampleRange SlotSamples(Step step, int32_t slot) const;
  // The most samples that a slot ever has.
  int64_t max_slot_samples() const { return (global_batch_ + slots_ - 1) / slots_; }

 private:
  int64_t train_samples_;
  int64_t global_batch_;
  int32_t slots_;
  int64_t steps_per_epoch_;
  int64_t total_steps_;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_TRAINING_BATCH_PLAN_H_
