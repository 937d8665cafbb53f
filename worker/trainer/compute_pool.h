// The compute threads of a worker. Each has a network of its own and computes whole slots, so the
// bits of a slot, and of their sum, do not depend on the number of threads.
//
//   slots 0 1 2 3 --> [ lane 0: network ]  --fp32--> slot tree --> as few nodes as can be
//                     [ lane 1: network ]  --other push types, slot by slot--> encoder
#ifndef TRIBUTARY_WORKER_TRAINER_COMPUTE_POOL_H_
#define TRIBUTARY_WORKER_TRAINER_COMPUTE_POOL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "common/job/job.h"
#include "common/training/slot_tree.h"
#include "common/training/work.h"
#include "worker/compute/backend.h"
#include "worker/data/batch_source.h"
#include "worker/data/dataset.h"
#include "worker/trainer/gradient_encoder.h"
#include "worker/trainer/parameter_client.h"

namespace tributary {

// Makes a network for batches of up to `max_batch`.
using NetworkFactory = std::function<absl::StatusOr<std::unique_ptr<Network>>(const ModelPlan& plan,
                                                                              int64_t max_batch)>;

// Not thread-safe: one thread calls it, and computes along as the first lane.
class ComputePool {
 public:
  // `job`, `dataset` and `source` outlive the pool. `threads` at least 1. Errors: the factory's.
  static absl::StatusOr<std::unique_ptr<ComputePool>> Create(const Job& job, const Dataset& dataset,
                                                             BatchSource& source, int threads,
                                                             const NetworkFactory& factory);
  ~ComputePool();
  ComputePool(const ComputePool&) = delete;
  ComputePool& operator=(const ComputePool&) = delete;

  // The parameters of what is computed from now on: the whole flat vector, which must stay as it is
  // while this pool computes.
  void SetParameters(absl::Span<const float> parameters);

  // The sum of the gradients of these slots, as nodes of the tree in the job's push type. For
  // another type than fp32 every slot is a node of its own: what a type loses then does not depend
  // on which slots are computed together. A slot is computed once in a step.
  absl::StatusOr<std::vector<NodeGradient>> ComputeGradients(Step step,
                                                             const std::vector<int32_t>& slots);

  // Units of the test set, as EvaluateOrder has them. Errors: INVALID_ARGUMENT for a unit that the
  // set does not have.
  absl::StatusOr<std::vector<EvaluationResult>> Evaluate(const EvaluateOrder& order);

 private:
  struct Lane {
    std::unique_ptr<Network> network;
    std::shared_ptr<std::vector<float>> gradient;
    int64_t parameters_number = 0;  // of SetParameters' calls
  };
  using Task = std::function<absl::Status(Lane& lane, size_t index)>;

  ComputePool(const Job& job, const Dataset& dataset, BatchSource& source);

  // Runs task(lane, i) for i in [0, count) on all lanes; the first error, in order of i.
  absl::Status RunAll(size_t count, const Task& task);
  void TakeTasks(Lane& lane);
  void LaneThread(Lane& lane);
  absl::Status ComputeSlot(Lane& lane, Step step, int32_t slot, BatchStatistics& statistics);
  absl::StatusOr<std::vector<NodeGradient>> ComputeEncoded(Step step,
                                                           const std::vector<int32_t>& slots);

  const Job& job_;
  const Dataset& dataset_;
  BatchSource& source_;
  std::vector<Lane> lanes_;
  std::vector<std::thread> threads_;  // of lanes 1 and up

  absl::Span<const float> parameters_;
  int64_t parameters_number_ = 0;

  // The work of one RunAll; written while the lanes rest.
  const Task* task_ = nullptr;
  std::vector<absl::Status> statuses_;
  std::atomic<size_t> next_task_ = 0;

  GradientEncoder encoder_;
  absl::Mutex tree_mutex_;
  SlotTree tree_ ABSL_GUARDED_BY(tree_mutex_);

  absl::Mutex mutex_;
  int64_t round_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t resting_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_TRAINER_COMPUTE_POOL_H_
