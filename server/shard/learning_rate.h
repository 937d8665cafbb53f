// The learning rate of a step: a function of the job and the step alone.
#ifndef TRIBUTARY_SERVER_SHARD_LEARNING_RATE_H_
#define TRIBUTARY_SERVER_SHARD_LEARNING_RATE_H_

#include "common/job/job.h"
#include "common/training/batch_plan.h"

namespace tributary {

// In float64, the same bits on every machine; the optimizer rounds it to fp32 where its formula
// uses it. While step < warmup_steps: base * (step + 1) / warmup_steps. Then:
//   constant  base
//   step      base * factor^floor(epoch of the step / every_epochs)   (torch StepLR; the epochs are
//             the job's, those of the warm-up included)
//   cosine    minimum + (base - minimum) * (1 + cos(pi * t / T)) / 2, t the steps since the
//   warm-up,
//             T the job's steps after the warm-up   (torch CosineAnnealingLR, closed form)
double LearningRateAt(const LearningRateConfig& config, const BatchPlan& plan, Step step);

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SHARD_LEARNING_RATE_H_
