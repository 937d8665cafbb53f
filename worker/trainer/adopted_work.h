// Slots of workers that are lost, computed beside a worker's own: its main thread may be waiting
// for the very version that these slots complete. A thread of its own, with a network and a copy of
// the parameters that are made when they are needed.
#ifndef TRIBUTARY_WORKER_TRAINER_ADOPTED_WORK_H_
#define TRIBUTARY_WORKER_TRAINER_ADOPTED_WORK_H_

#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "worker/trainer/compute_pool.h"

namespace tributary {

// Thread-safe.
class AdoptedWork {
 public:
  // What is passed by reference outlives this.
  AdoptedWork(const Job& job, const Dataset& dataset, BatchSource& source,
              const NetworkFactory& factory, ParameterClient& client);
  ~AdoptedWork();  // ends the thread; the client should have been stopped, or be done
  AdoptedWork(const AdoptedWork&) = delete;
  AdoptedWork& operator=(const AdoptedWork&) = delete;

  // The main thread computes these; they need not be adopted when they are offered here too.
  void Mark(const ComputeOrder& order);

  // Computes and pushes what has not been taken before. Returns at once.
  void Adopt(const std::vector<ComputeOrder>& orders);

 private:
  using Slot = std::pair<Step, int32_t>;

  void Run();
  absl::Status Compute(const ComputeOrder& order);
  // The slots of `order` that are new, remembered from now on.
  ComputeOrder TakeNew(const ComputeOrder& order) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Job& job_;
  const Dataset& dataset_;
  BatchSource& source_;
  const NetworkFactory& factory_;
  ParameterClient& client_;

  // The thread's own.
  std::unique_ptr<ComputePool> pool_;
  std::vector<float> parameters_;

  absl::Mutex mutex_;
  // Of the newest steps alone: what is older is complete.
  std::set<Slot> taken_ ABSL_GUARDED_BY(mutex_);
  std::vector<ComputeOrder> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Every slot of an order, in order. The coordinator's ranges are disjoint and within the job's.
std::vector<int32_t> SlotsOf(const ComputeOrder& order);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_TRAINER_ADOPTED_WORK_H_
