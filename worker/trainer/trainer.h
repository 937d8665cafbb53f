// A worker's training loop: do what the coordinator says, until the job is done.
//
//   Compute{t, slots}: have version t; gradients of the slots; push them, pull version t + 1
//   Evaluate{v, units}: have version v; loss and correct predictions of the units
//   Finished
//
// It knows no network (ParameterClient), no files (Dataset) and no device (NetworkFactory).
#ifndef TRIBUTARY_WORKER_TRAINER_TRAINER_H_
#define TRIBUTARY_WORKER_TRAINER_TRAINER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "common/job/job.h"
#include "common/training/batch_plan.h"
#include "worker/data/batch_source.h"
#include "worker/data/dataset.h"
#include "worker/trainer/adopted_work.h"
#include "worker/trainer/compute_pool.h"
#include "worker/trainer/parameter_client.h"

namespace tributary {

class Trainer {
 public:
  // Everything passed by reference outlives the trainer. `threads`: compute threads, at least 1.
  // Errors: the factory's.
  static absl::StatusOr<std::unique_ptr<Trainer>> Create(const Job& job, const Dataset& dataset,
                                                         int threads, NetworkFactory factory,
                                                         ParameterClient& client);

  // Until the job is done. Errors: the client's, the network's; INVALID_ARGUMENT for an order that
  // the job does not have.
  absl::Status Run();

  // Slots of lost workers, computed besides. Thread-safe; returns at once.
  void Adopt(const std::vector<ComputeOrder>& orders);

 private:
  Trainer(const Job& job, const Dataset& dataset, NetworkFactory factory, ParameterClient& client);

  absl::StatusOr<Work> Compute(const ComputeOrder& order);
  absl::StatusOr<Work> Evaluate(const EvaluateOrder& order);
  // Pulls `version` unless it is here.
  absl::Status Have(Version version);
  absl::Status CheckOrder(const ComputeOrder& order) const;

  const Job& job_;
  const BatchPlan plan_;
  const NetworkFactory factory_;
  ParameterClient& client_;
  BatchSource source_;
  std::unique_ptr<ComputePool> pool_;
  AdoptedWork adopted_;
  std::vector<float> parameters_;
  Version version_ = -1;  // of parameters_; -1: none
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_TRAINER_TRAINER_H_
