// A whole cluster in one thread, with everything that can go wrong: the real Coordinator, and
// simple models of shards, workers, the network and the clock, all moved by one random number
// generator. The same seed gives the same run.
//
//   trouble: workers join late, die, leave, hang past their lease and come back; answers are lost,
//            pushes and reports arrive twice or long after their sender is gone
//   calm:    nobody new fails; workers that hang do not come back. The job must end.
//
// A shard of the model counts which slots of its step have arrived; a worker computes a slot only
// from parameters that every shard still has or has already, as a real one does.
#ifndef TRIBUTARY_TESTS_SERVER_COORDINATOR_CLUSTER_MODEL_H_
#define TRIBUTARY_TESTS_SERVER_COORDINATOR_CLUSTER_MODEL_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/job/job.h"
#include "common/training/work.h"
#include "server/coordinator/coordinator.h"

namespace tributary {

class ClusterModel {
 public:
  explicit ClusterModel(uint32_t seed);

  // Runs the job to its end. Returns the promises that were broken, in words; empty when all held.
  std::vector<std::string> Run();

  // What happened, so that a test can see that the trouble took place.
  struct Counts {
    int64_t events = 0;
    int64_t lost_workers = 0;
    int64_t rejoined = 0;
    int64_t orphans_by_renew = 0;
    int64_t orphans_by_ask = 0;  // of the step before
    int64_t shards_apart = 0;    // pushes that found another shard one step away
    int64_t late_messages = 0;
    int64_t evaluations = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  using Slot = Coordinator::Slot;
  using Seconds = Coordinator::Seconds;

  struct Shard {
    bool is_registered = false;
    Version version = 0;
    std::set<int32_t> arrived;  // slots of step `version`
  };
  struct Push {
    Slot slot;
    size_t shard = 0;
    // clang-tidy 14 takes the comparison's 0 for a pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const Push&, const Push&) = default;
  };
  struct Ask {
    SessionId session = 0;
  };
  struct Worker {
    SessionId session = 0;
    bool remembers = true;  // drops extra slots that it has computed
    bool is_in = false;
    bool was_in = false;
    bool has_finished = false;
    Seconds asleep_until = 0;
    Seconds renew_at = 0;
    std::optional<Work> order;
    std::optional<Work> next;  // came with shard 0's parameters
    std::vector<Slot> slots;   // of `order`, not yet computed
    std::vector<int32_t> units;
    std::vector<EvaluationResult> results;
    std::vector<Slot> extra;
    std::set<Slot> computed;
    std::set<Push> unanswered;
  };
  enum class Parameters { kNotYet, kThere, kGone };

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Chance(int percent) { return Below(100) < static_cast<uint64_t>(percent); }
  void Promise(bool holds, const std::string& what);

  void AddWorker();
  void CauseTrouble();
  void LetTimePass();
  void DeliverLateMessage();
  void Act(Worker& worker);
  void Join(Worker& worker);
  void Renew(Worker& worker);
  std::optional<Work> AskForWork(Worker& worker);
  void Begin(Worker& worker, const Work& order);
  void GoOn(Worker& worker);
  void GoOnComputing(Worker& worker, Step step);
  void GoOnEvaluating(Worker& worker, Version version);
  void ComputeExtra(Worker& worker);
  void Compute(Worker& worker, Slot slot);
  void SendOnePush(Worker& worker);
  void Arrive(const Push& push);
  void CheckEvaluations();
  void CheckEnd();
  void CheckOrder(const Work& work);
  Parameters Find(Version version) const;
  bool EveryShardHas(Version version) const;
  EvaluationResult Evaluate(Version version, int32_t unit) const;

  std::mt19937 random_;
  Job job_;
  DataSummary data_;
  size_t most_workers_;
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<Shard> shards_;
  std::vector<std::unique_ptr<Worker>> workers_;
  SessionId sessions_ = 0;
  std::vector<std::variant<Push, EvaluationResult, Ask>> late_;
  Seconds now_ = 0;
  Version newest_ = 0;
  size_t evaluations_seen_ = 0;
  Counts counts_;
  std::vector<std::string> broken_;
};

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_SERVER_COORDINATOR_CLUSTER_MODEL_H_
