// The learning rate of a step: a function of the job and the step alone.
#ifndef TRIBUTARY_SERVER_SHARD_LEARNING_RATE_H_
#define TRIBUTARY_SERVER_SHARD_LEARNING_RATE_H_

#include "common/job/job.h"
#include "common/training/batch_plan.h"

namespace tributary {

// In float64; the optimizer rounds it to fp32 where its formula uses it. While t < warmup_steps:
// base * (t + 1) / warmup_steps. Then, with t counted from the end of the warm-up:
//   constant  base
//   step      base * factor^floor(epoch of the step / every_epochs)   (torch StepLR)
//   cosine    minimum + (base - minimum) * (1 + cos(pi * t / T)) / 2, T the steps that remain after
//             the warm-up   (torch CosineAnnealingLR, closed form)
double LearningRateAt(const LearningRateConfig& config, const BatchPlan& plan, Step step);

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SHARD_LEARNING_RATE_H_
