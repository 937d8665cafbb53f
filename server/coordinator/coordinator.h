// The coordinator's decisions, as a value: who takes part, what step the job is at, who computes
// which slots, who evaluates what. No network, no clock, no threads: inputs in (with the time where
// it matters), state and work orders out. The service owns one, locks, and carries the answers.
//
//   WAITING --shards registered, workers there--> TRAINING <--> EVALUATING --last--> FINISHED -->
//   CLOSED
//      any --Fail--> FAILED
//
// Slots are given out per step, in equal runs over the workers that are there when the step begins.
// The slots of a worker that is lost (its lease ran out) or leaves become orphans and go to the
// first worker that asks; for the step before the current one too, since shards other than 0 may
// still wait for them. Who computes a slot does not change its bits.
#ifndef TRIBUTARY_SERVER_COORDINATOR_COORDINATOR_H_
#define TRIBUTARY_SERVER_COORDINATOR_COORDINATOR_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/types.h"
#include "common/job/job.h"
#include "common/training/batch_plan.h"
#include "common/training/work.h"
#include "server/coordinator/progress.h"

namespace tributary {

enum class Phase { kWaiting, kTraining, kEvaluating, kFinished, kClosed, kFailed };

class Coordinator {
 public:
  // Seconds on a clock that never goes back.
  using Seconds = double;

  struct Options {
    ShardId shards = 1;
    Seconds lease_seconds = 10;
  };

  struct ShardHello {
    ShardId shard = 0;
    std::string address;
    uint64_t layout_fingerprint = 0;
    uint64_t incarnation = 0;
  };

  struct WorkerHello {
    SessionId session = 0;
    std::string name;
    uint64_t layout_fingerprint = 0;
    DataSummary data;
  };

  struct Slot {
    Step step = 0;
    int32_t slot = 0;
    friend bool operator==(const Slot&, const Slot&) = default;
    // clang-tidy 14 takes the comparison's 0 for a pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const Slot&, const Slot&) = default;
  };

  Coordinator(const Job& job, const Options& options);

  // A shard presents itself or is alive. Errors (FAILED_PRECONDITION): another layout, a shard
  // number that another process holds, each with both values.
  absl::Status RegisterShard(const ShardHello& hello, Seconds now);
  bool AllShardsRegistered() const;
  std::vector<std::string> shard_addresses() const;

  // A worker presents itself; again for the same session is harmless. Errors
  // (FAILED_PRECONDITION): another layout or other data than the workers that are there or, once
  // training has begun, were. (ABORTED): failed.
  absl::Status Join(const WorkerHello& hello, Seconds now);

  // What the worker does next. An order stays until it is carried out, so asking twice is harmless.
  // Orphans of the step before come first, once (if that answer is lost, Renew has them); orphans
  // of the current step are part of its order. Errors: FAILED_PRECONDITION for a session that is
  // not in (its lease ran out: join again); ABORTED when the job has failed.
  absl::StatusOr<Work> NextWork(SessionId session, Seconds now);

  // The worker is alive; returns the slots of lost workers that it has to compute besides its own.
  // An answer can be lost, so the same slots are returned again until their step is known to be
  // complete on every shard: the worker drops those that it has computed.
  absl::StatusOr<std::vector<ComputeOrder>> Renew(SessionId session, Seconds now);

  // The first result for a (version, unit) counts; others are dropped. Errors: INVALID_ARGUMENT for
  // a unit or count that is not one.
  absl::Status ReportEvaluation(const EvaluationResult& result, Seconds now);

  // Shard 0 has applied a step.
  void StepCompleted(Version version, const BatchStatistics& statistics, Seconds now);

  void Leave(SessionId session, Seconds now);

  // Takes the slots of workers whose lease has run out; fails the job when a shard is silent (while
  // it waits for others to begin, it only forgets the shard). Returns the names of the workers that
  // were lost.
  std::vector<std::string> Tick(Seconds now);

  void Fail(const std::string& why);
  // The model is written: shards may leave.
  void Close();

  Phase phase() const { return phase_; }
  const std::string& failure() const { return failure_; }
  // What is being waited for, for people; empty when nothing is.
  std::string WaitingFor() const;
  // Set from kTraining on.
  const std::optional<DataSummary>& data() const { return data_; }
  const std::optional<BatchPlan>& plan() const { return plan_; }
  const ProgressMeter& progress() const { return progress_; }
  Version version() const { return version_; }
  int64_t workers() const { return static_cast<int64_t>(workers_.size()); }
  const std::vector<EvaluationSummary>& evaluations() const { return evaluations_; }

 private:
  struct ShardState {
    ShardHello hello;
    Seconds last_seen = 0;
  };
  struct Worker {
    WorkerHello hello;
    int64_t order = 0;  // of joining
    Seconds lease_end = 0;
    std::optional<ComputeOrder> order_for_step;
    // Its slots of the step before: until the current one is complete, another shard may wait for
    // them.
    std::vector<Slot> before;
    // Orphans that it took, of the current step and the one before.
    std::vector<Slot> adopted;
    std::vector<int32_t> units;
  };

  absl::StatusOr<Worker*> FindWorker(SessionId session, Seconds now);
  void MaybeBegin(Seconds now);
  void AssignSlots();
  void BeginEvaluation();
  void EndEvaluation(Seconds now);
  void Remove(std::map<SessionId, Worker>::iterator worker);
  // The worker takes every orphan there is; returns those.
  std::vector<Slot> AdoptOrphans(Worker& worker);
  Work SlotsOrWait(const Worker& worker) const;
  Work UnitsOrWait(Worker& worker);
  // Every shard has version `complete`: nothing waits for slots of the steps before it.
  void ForgetSlots(Version complete);
  int64_t EvaluationUnits() const;
  void LoseShard(size_t shard);

  const Job job_;
  const Options options_;

  Phase phase_ = Phase::kWaiting;
  std::string failure_;
  std::vector<std::optional<ShardState>> shards_;
  std::map<SessionId, Worker> workers_;
  int64_t joined_ = 0;

  std::optional<DataSummary> data_;
  std::optional<BatchPlan> plan_;
  Version version_ = 0;
  std::vector<Slot> orphans_;

  // The evaluation in progress.
  std::deque<int32_t> open_units_;
  std::map<int32_t, BatchStatistics> unit_results_;
  std::vector<EvaluationSummary> evaluations_;
  ProgressMeter progress_;
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_COORDINATOR_COORDINATOR_H_
