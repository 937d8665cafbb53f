// A small job, and the words in which shards and workers present themselves.
#ifndef TRIBUTARY_TESTS_SERVER_COORDINATOR_COORDINATOR_TEST_SUPPORT_H_
#define TRIBUTARY_TESTS_SERVER_COORDINATOR_COORDINATOR_TEST_SUPPORT_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/job/job.h"
#include "common/training/work.h"
#include "gtest/gtest.h"
#include "server/coordinator/coordinator.h"

namespace tributary {

inline constexpr DataSummary kTestData{.train_samples = 20, .test_samples = 10, .fingerprint = 7};

// 20 training samples in batches of 8 are 3 steps an epoch, 6 in all; 10 test samples in batches of
// 4 are units 0, 1 and 2 (of 4, 4 and 2 samples).
inline Job TestJob() {
  Job job;
  job.model.layout = *Layout::Create({{.name = "fc.weight", .shape = {10, 4}}});
  job.training = {.epochs = 2, .global_batch = 8, .slots = 8};
  job.evaluation = {.every_epochs = 0, .batch = 4};
  return job;
}

inline Coordinator::ShardHello ShardNumber(const Job& job, ShardId shard) {
  return {.shard = shard,
          .address = absl::StrCat("host", shard, ":7000"),
          .layout_fingerprint = job.model.layout.fingerprint(),
          .incarnation = 1000 + static_cast<uint64_t>(shard)};
}

inline Coordinator::WorkerHello WorkerNumber(const Job& job, SessionId session,
                                             const DataSummary& data = kTestData) {
  return {.session = session,
          .name = absl::StrCat("worker", session),
          .layout_fingerprint = job.model.layout.fingerprint(),
          .data = data};
}

// The slots of orders of any number of steps, one by one.
inline std::vector<Coordinator::Slot> SlotsOf(const std::vector<ComputeOrder>& orders) {
  std::vector<Coordinator::Slot> slots;
  for (const ComputeOrder& order : orders) {
    for (const SlotRange& range : order.slots) {
      for (int32_t slot = range.begin; slot < range.end; ++slot) {
        slots.push_back({order.step, slot});
      }
    }
  }
  return slots;
}

// A coordinator with its peers at hand, at the time `now`.
class TestCluster {
 public:
  explicit TestCluster(const Job& job = TestJob(), ShardId shards = 2)
      : job_(job), shards_(shards), coordinator(job, {.shards = shards, .lease_seconds = 10}) {}

  absl::Status Register(ShardId shard) {
    return coordinator.RegisterShard(ShardNumber(job_, shard), now);
  }
  absl::Status Join(SessionId session, const DataSummary& data = kTestData) {
    return coordinator.Join(WorkerNumber(job_, session, data), now);
  }
  // Every shard and these workers are there.
  void Begin(const std::vector<SessionId>& sessions) {
    for (const SessionId session : sessions) ASSERT_TRUE(Join(session).ok());
    for (ShardId shard = 0; shard < shards_; ++shard) ASSERT_TRUE(Register(shard).ok());
    ASSERT_EQ(coordinator.phase(), Phase::kTraining);
  }

  // The step of version() is complete on shard 0.
  void CompleteStep() {
    const Step step = coordinator.version();
    coordinator.StepCompleted(step + 1, {.samples = coordinator.plan()->StepSamples(step).size()},
                              now);
  }
  absl::Status Report(int32_t unit, int64_t samples, int64_t correct) {
    return coordinator.ReportEvaluation(
        {.version = coordinator.version(),
         .unit = unit,
         .statistics = {.samples = samples, .loss_sum = 0.5, .correct = correct}},
        now);
  }

  // The work of a kind that the test knows it gets.
  ComputeOrder NextSlots(SessionId session) { return Next<ComputeOrder>(session); }
  std::vector<int32_t> NextUnits(SessionId session) { return Next<EvaluateOrder>(session).units; }
  bool HasToWait(SessionId session) {
    const absl::StatusOr<Work> work = coordinator.NextWork(session, now);
    return work.ok() && std::holds_alternative<WaitOrder>(*work);
  }
  std::vector<ComputeOrder> Renew(SessionId session) {
    const auto extra = coordinator.Renew(session, now);
    EXPECT_TRUE(extra.ok()) << extra.status();
    return extra.value_or(std::vector<ComputeOrder>{});
  }

 private:
  template <typename Order>
  Order Next(SessionId session) {
    const absl::StatusOr<Work> work = coordinator.NextWork(session, now);
    EXPECT_TRUE(work.ok()) << work.status();
    const bool is_expected_kind = work.ok() && std::holds_alternative<Order>(*work);
    EXPECT_TRUE(is_expected_kind) << "worker " << session << " gets another kind of order";
    return is_expected_kind ? std::get<Order>(*work) : Order{};
  }

  const Job job_;
  const ShardId shards_;

 public:
  Coordinator coordinator;
  Coordinator::Seconds now = 100;
};

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_SERVER_COORDINATOR_COORDINATOR_TEST_SUPPORT_H_
