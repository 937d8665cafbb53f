// Makes micro-batches ready ahead of time: looks the samples up in the epoch's order, turns bytes
// into normalised floats, on a thread of its own behind a bounded queue.
//
//   trainer --Get(step, slot)--> [ queue of ready batches, at most `depth` ] <-- prefetch thread
//
// The prefetch thread guesses: after slots {0, 1} of step t it prepares slots {0, 1} of step t + 1.
// A wrong guess (the worker was given other slots) costs time and nothing else: Get makes the batch
// on the spot. What is in a batch is a function of (job, step, slot), never of the guess.
#ifndef TRIBUTARY_WORKER_DATA_BATCH_SOURCE_H_
#define TRIBUTARY_WORKER_DATA_BATCH_SOURCE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "common/base/types.h"
#include "common/job/job.h"
#include "common/training/batch_plan.h"
#include "worker/data/dataset.h"

namespace tributary {

// A micro-batch as the compute backend takes it. `images` is [N, C, H, W], 64-byte aligned.
struct ReadyBatch {
  Step step = 0;
  int32_t slot = 0;
  int64_t first_position = 0;  // of the slot's samples in the epoch's order
  absl::Span<const float> images;
  absl::Span<const int32_t> labels;
  std::shared_ptr<const void> owner;  // keeps the memory; dropping it gives the memory back
};

class BatchSource {
 public:
  // `dataset` must outlive the source. `depth`: batches kept ready, at least 1.
  BatchSource(const Dataset& dataset, const DataConfig& data, const BatchPlan& plan, uint64_t seed,
              int depth);
  ~BatchSource();  // ends the thread
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;

  // Tells what will be asked for: every slot of `slots`, of `step` and then of the steps that
  // follow, until the next call. Thread-safe.
  void Expect(Step step, const std::vector<int32_t>& slots);

  // The micro-batch of one slot: the one that is ready, otherwise it makes it at once. Thread-safe.
  // It never waits for the prefetch thread, which may be without a processor for milliseconds where
  // making the batch takes microseconds.
  ReadyBatch Get(Step step, int32_t slot);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The images [begin, end) of `images` in file order, normalised, for evaluation.
struct EvaluationBatch {
  std::vector<float> images;
  std::vector<int32_t> labels;
};
EvaluationBatch MakeEvaluationBatch(const LabelledImages& images, const DataConfig& data,
                                    SampleRange range);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_BATCH_SOURCE_H_
