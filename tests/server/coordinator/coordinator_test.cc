// Who takes part, when training begins, and how the slots are given out when nobody fails.
#include "server/coordinator/coordinator.h"

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/coordinator/coordinator_test_support.h"

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CoordinatorMeeting, TrainingBeginsWithTheLastShardOrWorkerWhateverTheOrder) {
  Job job = TestJob();
  job.training.min_workers = 2;
  {
    TestCluster cluster(job);
    EXPECT_TRUE(cluster.Register(0).ok());
    EXPECT_TRUE(cluster.Join(1).ok());
    EXPECT_TRUE(cluster.Join(2).ok());
    EXPECT_EQ(cluster.coordinator.phase(), Phase::kWaiting);
    EXPECT_TRUE(cluster.HasToWait(1));
    EXPECT_TRUE(cluster.Register(1).ok());
    EXPECT_EQ(cluster.coordinator.phase(), Phase::kTraining);
  }
  {
    TestCluster cluster(job);
    EXPECT_TRUE(cluster.Join(1).ok());
    EXPECT_TRUE(cluster.Register(1).ok());
    EXPECT_TRUE(cluster.Register(0).ok());
    EXPECT_EQ(cluster.coordinator.phase(), Phase::kWaiting);
    EXPECT_TRUE(cluster.Join(2).ok());
    EXPECT_EQ(cluster.coordinator.phase(), Phase::kTraining);
    EXPECT_EQ(*cluster.coordinator.data(), kTestData);
    EXPECT_EQ(cluster.coordinator.plan()->total_steps(), 6);
  }
}

TEST(CoordinatorMeeting, SaysWhatIsMissing) {
  Job job = TestJob();
  job.training.min_workers = 2;
  TestCluster cluster(job, 3);
  EXPECT_EQ(cluster.coordinator.WaitingFor(), "shard 0, shard 1, shard 2, workers (0 of 2)");
  EXPECT_TRUE(cluster.Register(1).ok());
  EXPECT_EQ(cluster.coordinator.WaitingFor(), "shard 0, shard 2, workers (0 of 2)");
  EXPECT_TRUE(cluster.Join(1).ok());
  EXPECT_TRUE(cluster.Register(0).ok());
  EXPECT_TRUE(cluster.Register(2).ok());
  EXPECT_EQ(cluster.coordinator.WaitingFor(), "workers (1 of 2)");
  EXPECT_TRUE(cluster.Join(2).ok());
  EXPECT_EQ(cluster.coordinator.WaitingFor(), "");
  cluster.coordinator.Leave(1, cluster.now);
  EXPECT_EQ(cluster.coordinator.WaitingFor(), "");
  cluster.coordinator.Leave(2, cluster.now);
  EXPECT_EQ(cluster.coordinator.WaitingFor(), "a worker");
}

TEST(CoordinatorMeeting, KnowsTheAddressesOfTheShardsThatAreThere) {
  TestCluster cluster;
  EXPECT_TRUE(cluster.Register(1).ok());
  EXPECT_FALSE(cluster.coordinator.AllShardsRegistered());
  EXPECT_THAT(cluster.coordinator.shard_addresses(), ElementsAre("", "host1:7000"));
  EXPECT_TRUE(cluster.Register(0).ok());
  EXPECT_TRUE(cluster.Register(0).ok()) << "it is alive";
  EXPECT_TRUE(cluster.coordinator.AllShardsRegistered());
  EXPECT_THAT(cluster.coordinator.shard_addresses(), ElementsAre("host0:7000", "host1:7000"));
}

TEST(CoordinatorMeeting, RefusesASecondProcessWithAShardsNumber) {
  const Job job = TestJob();
  TestCluster cluster(job);
  EXPECT_TRUE(cluster.Register(1).ok());
  Coordinator::ShardHello second = ShardNumber(job, 1);
  second.address = "other:7001";
  second.incarnation = 5;
  const absl::Status status = cluster.coordinator.RegisterShard(second, cluster.now);
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(
      std::string(status.message()),
      testing::AllOf(HasSubstr("shard 1"), HasSubstr("other:7001"), HasSubstr("host1:7000")));
}

TEST(CoordinatorMeeting, RefusesAShardNumberThatTheJobDoesNotHave) {
  TestCluster cluster;
  for (const ShardId shard : {-1, 2}) {
    const absl::Status status = cluster.Register(shard);
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr(absl::StrCat("found ", shard)));
    EXPECT_THAT(std::string(status.message()), HasSubstr("0 to 1"));
  }
}

TEST(CoordinatorMeeting, RefusesAnotherLayoutAndNamesBothFingerprints) {
  Job job = TestJob();
  TestCluster cluster(job);
  const auto hex = [](uint64_t value) { return absl::StrFormat("%016x", value); };
  Coordinator::ShardHello shard = ShardNumber(job, 0);
  shard.layout_fingerprint = 0xabc;
  Coordinator::WorkerHello worker = WorkerNumber(job, 1);
  worker.layout_fingerprint = 0xabc;
  for (const absl::Status& status : {cluster.coordinator.RegisterShard(shard, cluster.now),
                                     cluster.coordinator.Join(worker, cluster.now)}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr("found 0000000000000abc"));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("expected " + hex(job.model.layout.fingerprint())));
  }
  EXPECT_EQ(cluster.coordinator.workers(), 0);
}

TEST(CoordinatorMeeting, RefusesOtherDataThanTheWorkersThatAreThereAndNamesBoth) {
  Job job = TestJob();
  job.training.min_workers = 2;
  struct Case {
    DataSummary data;
    std::string found;
  };
  for (const Case& c : {Case{{21, 10, 7}, "21 train and 10 test samples"},
                        Case{{20, 11, 7}, "20 train and 11 test samples"},
                        Case{{20, 10, 8}, "fingerprint 0000000000000008"}}) {
    TestCluster cluster(job);
    EXPECT_TRUE(cluster.Join(1).ok());
    const absl::Status status = cluster.Join(2, c.data);
    EXPECT_TRUE(absl::IsFailedPrecondition(status));
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.found));
    EXPECT_THAT(std::string(status.message()), HasSubstr("20 and 10 with 0000000000000007"));
    EXPECT_EQ(cluster.coordinator.workers(), 1);
  }
}

TEST(CoordinatorMeeting, AWorkerWithTheWrongDataThatLeftDoesNotKeepTheOthersOut) {
  TestCluster cluster;
  EXPECT_TRUE(cluster.Join(1, {.train_samples = 5, .test_samples = 5, .fingerprint = 5}).ok());
  cluster.coordinator.Leave(1, cluster.now);
  cluster.Begin({2});
  EXPECT_EQ(*cluster.coordinator.data(), kTestData);
}

TEST(CoordinatorMeeting, OnceTrainingHasBegunTheDataStayEvenWhenEveryWorkerLeaves) {
  TestCluster cluster;
  cluster.Begin({1});
  cluster.coordinator.Leave(1, cluster.now);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      cluster.Join(2, {.train_samples = 5, .test_samples = 5, .fingerprint = 5})));
  EXPECT_TRUE(cluster.Join(3).ok());
}

TEST(CoordinatorMeeting, RefusesSessionZeroAndEmptyData) {
  TestCluster cluster;
  EXPECT_TRUE(absl::IsInvalidArgument(cluster.Join(0)));
  EXPECT_TRUE(absl::IsInvalidArgument(cluster.Join(1, {.train_samples = 0, .test_samples = 1})));
  EXPECT_TRUE(absl::IsInvalidArgument(cluster.Join(1, {.train_samples = 1, .test_samples = 0})));
  EXPECT_EQ(cluster.coordinator.workers(), 0);
}

TEST(CoordinatorMeeting, JoiningTwiceIsHarmless) {
  TestCluster cluster;
  cluster.Begin({1, 2});
  const ComputeOrder order = cluster.NextSlots(1);
  EXPECT_TRUE(cluster.Join(1).ok());
  EXPECT_EQ(cluster.coordinator.workers(), 2);
  EXPECT_EQ(SlotsOf({cluster.NextSlots(1)}), SlotsOf({order}));
}

TEST(CoordinatorMeeting, ASessionThatIsNotInHasToJoin) {
  TestCluster cluster;
  cluster.Begin({1});
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster.coordinator.NextWork(2, cluster.now).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster.coordinator.Renew(2, cluster.now).status()));
}

TEST(CoordinatorMeeting, AShardThatIsSilentBeforeTheBeginningMayBeReplaced) {
  const Job job = TestJob();
  TestCluster cluster(job);
  EXPECT_TRUE(cluster.Register(1).ok());
  cluster.now += 11;
  cluster.coordinator.Tick(cluster.now);
  EXPECT_EQ(cluster.coordinator.WaitingFor(), "shard 0, shard 1, workers (0 of 1)");
  Coordinator::ShardHello second = ShardNumber(job, 1);
  second.incarnation = 5;
  EXPECT_TRUE(cluster.coordinator.RegisterShard(second, cluster.now).ok());
}

struct RunsCase {
  int workers;
  int32_t slots;
  std::vector<SlotRange> runs;  // an empty one: the worker waits
};

TEST(CoordinatorSlots, AreGivenOutInEqualRunsInTheOrderOfJoining) {
  for (const RunsCase& c :
       {RunsCase{1, 8, {{0, 8}}}, RunsCase{2, 8, {{0, 4}, {4, 8}}},
        RunsCase{3, 8, {{0, 2}, {2, 5}, {5, 8}}}, RunsCase{3, 2, {{0, 0}, {0, 1}, {1, 2}}}}) {
    Job job = TestJob();
    job.training.slots = c.slots;
    job.training.min_workers = c.workers;
    TestCluster cluster(job);
    // The sessions' numbers, which are random, do not order the workers.
    std::vector<SessionId> sessions;
    sessions.reserve(c.runs.size());
    for (int i = 0; i < c.workers; ++i) sessions.push_back(static_cast<SessionId>(50 - i));
    cluster.Begin(sessions);
    for (int i = 0; i < c.workers; ++i) {
      const SlotRange run = c.runs[static_cast<size_t>(i)];
      if (run.size() == 0) {
        EXPECT_TRUE(cluster.HasToWait(sessions[static_cast<size_t>(i)]));
        continue;
      }
      const ComputeOrder order = cluster.NextSlots(sessions[static_cast<size_t>(i)]);
      EXPECT_EQ(order.step, 0);
      EXPECT_THAT(order.slots, ElementsAre(run)) << c.workers << " workers, worker " << i;
    }
  }
}

TEST(CoordinatorSlots, AnOrderStaysUntilItsStepIsComplete) {
  TestCluster cluster;
  cluster.Begin({1});
  EXPECT_EQ(cluster.NextSlots(1).step, 0);
  EXPECT_EQ(cluster.NextSlots(1).step, 0);
  cluster.CompleteStep();
  EXPECT_EQ(cluster.coordinator.version(), 1);
  EXPECT_EQ(cluster.NextSlots(1).step, 1);
  EXPECT_THAT(cluster.NextSlots(1).slots, ElementsAre(SlotRange{0, 8}));
}

TEST(CoordinatorSlots, AWorkerThatJoinsLateGetsItsShareOfTheNextStep) {
  TestCluster cluster;
  cluster.Begin({1});
  EXPECT_TRUE(cluster.Join(2).ok());
  EXPECT_TRUE(cluster.HasToWait(2));
  EXPECT_THAT(cluster.NextSlots(1).slots, ElementsAre(SlotRange{0, 8}));
  cluster.CompleteStep();
  EXPECT_THAT(cluster.NextSlots(1).slots, ElementsAre(SlotRange{0, 4}));
  EXPECT_THAT(cluster.NextSlots(2).slots, ElementsAre(SlotRange{4, 8}));
}

TEST(CoordinatorSlots, AWorkerThatLosesNobodyHasNothingExtra) {
  TestCluster cluster;
  cluster.Begin({1, 2});
  cluster.CompleteStep();
  EXPECT_TRUE(cluster.Renew(1).empty());
  EXPECT_TRUE(cluster.Renew(2).empty());
}

}  // namespace
}  // namespace tributary
