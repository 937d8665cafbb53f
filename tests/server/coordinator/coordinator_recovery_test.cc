// What becomes of the slots of a worker that is gone, and when a job fails.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/coordinator/coordinator.h"
#include "tests/server/coordinator/coordinator_test_support.h"

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Slots = std::vector<Coordinator::Slot>;

Slots RunOf(Step step, SlotRange range) {
  return SlotsOf({{step, {range}}});
}

Slots Both(Slots a, const Slots& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(CoordinatorRecovery, ALeaseEndsAfterItsTimeAndAnyCallRenewsIt) {
  TestCluster cluster;
  cluster.Begin({1, 2, 3});
  cluster.now += 9;
  EXPECT_FALSE(cluster.HasToWait(1));
  cluster.Renew(2);
  cluster.now += 1;
  EXPECT_THAT(cluster.coordinator.Tick(cluster.now), IsEmpty()) << "ten seconds are allowed";
  cluster.now += 0.5;
  for (ShardId shard : {0, 1}) EXPECT_TRUE(cluster.Register(shard).ok());
  EXPECT_THAT(cluster.coordinator.Tick(cluster.now), ElementsAre("worker3"));
  EXPECT_EQ(cluster.coordinator.workers(), 2);
  EXPECT_TRUE(absl::IsFailedPrecondition(cluster.coordinator.Renew(3, cluster.now).status()));
}

TEST(CoordinatorRecovery, TheFirstThatAsksGetsTheSlotsOfAWorkerThatLeft) {
  TestCluster cluster;
  cluster.Begin({1, 2});
  cluster.coordinator.Leave(2, cluster.now);
  EXPECT_EQ(SlotsOf(cluster.Renew(1)), RunOf(0, {4, 8}));
}

TEST(CoordinatorRecovery, OnlyOneWorkerGetsThem) {
  TestCluster cluster;
  cluster.Begin({1, 2, 3, 4});
  cluster.coordinator.Leave(4, cluster.now);
  EXPECT_EQ(SlotsOf(cluster.Renew(2)), RunOf(0, {6, 8}));
  EXPECT_THAT(cluster.Renew(1), IsEmpty());
  EXPECT_EQ(SlotsOf({cluster.NextSlots(3)}), RunOf(0, {4, 6}));
}

TEST(CoordinatorRecovery, AnAnswerThatWasLostIsGivenAgain) {
  TestCluster cluster;
  cluster.Begin({1, 2});
  cluster.coordinator.Leave(2, cluster.now);
  EXPECT_EQ(SlotsOf(cluster.Renew(1)), RunOf(0, {4, 8}));
  EXPECT_EQ(SlotsOf(cluster.Renew(1)), RunOf(0, {4, 8}));
  EXPECT_EQ(SlotsOf({cluster.NextSlots(1)}), RunOf(0, {0, 8})) << "they are part of its order";
  EXPECT_EQ(SlotsOf({cluster.NextSlots(1)}), RunOf(0, {0, 8}));
}

TEST(CoordinatorRecovery, AWorkerWithoutSlotsOfItsOwnGetsThemWhenItAsksForWork) {
  TestCluster cluster;
  cluster.Begin({1, 2});
  EXPECT_TRUE(cluster.Join(3).ok());
  cluster.coordinator.Leave(2, cluster.now);
  EXPECT_EQ(SlotsOf({cluster.NextSlots(3)}), RunOf(0, {4, 8}));
  EXPECT_EQ(SlotsOf({cluster.NextSlots(3)}), RunOf(0, {4, 8}));
}

TEST(CoordinatorRecovery, TheStepBeforeIsComputedAgainToo) {
  // Shard 0 has step 0; shard 1 may still wait for what the lost worker did not push.
  TestCluster cluster;
  cluster.Begin({1, 2});
  cluster.CompleteStep();
  cluster.coordinator.Leave(2, cluster.now);
  EXPECT_EQ(SlotsOf(cluster.Renew(1)), Both(RunOf(0, {4, 8}), RunOf(1, {4, 8})));
}

TEST(CoordinatorRecovery, TheStepBeforeComesFirstWhenAskedForWork) {
  // Step 1 needs version 1 of every shard.
  TestCluster cluster;
  cluster.Begin({1, 2});
  cluster.CompleteStep();
  cluster.coordinator.Leave(2, cluster.now);
  EXPECT_EQ(SlotsOf({cluster.NextSlots(1)}), RunOf(0, {4, 8}));
  EXPECT_EQ(SlotsOf({cluster.NextSlots(1)}), RunOf(1, {0, 8}));
  EXPECT_EQ(SlotsOf(cluster.Renew(1)), Both(RunOf(0, {4, 8}), RunOf(1, {4, 8})))
      << "in case that the first answer was lost";
}

TEST(CoordinatorRecovery, AStepTwoVersionsBackIsForgotten) {
  TestCluster cluster;
  cluster.Begin({1, 2});
  cluster.CompleteStep();
  cluster.coordinator.Leave(2, cluster.now);
  EXPECT_FALSE(cluster.Renew(1).empty());
  cluster.CompleteStep();
  EXPECT_EQ(SlotsOf(cluster.Renew(1)), RunOf(1, {4, 8}));
  cluster.CompleteStep();
  cluster.CompleteStep();
  EXPECT_THAT(cluster.Renew(1), IsEmpty());
}

TEST(CoordinatorRecovery, SlotsThatWereTakenOverAreTakenOverAgain) {
  TestCluster cluster;
  cluster.Begin({1, 2, 3, 4});
  cluster.coordinator.Leave(1, cluster.now);
  cluster.Renew(2);
  cluster.coordinator.Leave(2, cluster.now);
  EXPECT_EQ(SlotsOf(cluster.Renew(4)), RunOf(0, {0, 4}));
}

TEST(CoordinatorRecovery, WhenEveryWorkerIsLostTheNextOneCarriesOn) {
  TestCluster cluster;
  cluster.Begin({1, 2});
  cluster.CompleteStep();
  cluster.coordinator.Leave(1, cluster.now);
  cluster.coordinator.Leave(2, cluster.now);
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kTraining);
  EXPECT_TRUE(cluster.Join(3).ok());
  EXPECT_EQ(SlotsOf({cluster.NextSlots(3)}), RunOf(0, {0, 8}));
  EXPECT_EQ(SlotsOf({cluster.NextSlots(3)}), RunOf(1, {0, 8}));
}

TEST(CoordinatorRecovery, AStepThatBeginsWithoutWorkersWaitsForOne) {
  // The last worker leaves while its last push is on its way.
  TestCluster cluster;
  cluster.Begin({1});
  cluster.coordinator.Leave(1, cluster.now);
  cluster.CompleteStep();
  EXPECT_TRUE(cluster.Join(2).ok());
  EXPECT_EQ(SlotsOf({cluster.NextSlots(2)}), RunOf(0, {0, 8}));
  EXPECT_EQ(SlotsOf({cluster.NextSlots(2)}), RunOf(1, {0, 8}));
}

TEST(CoordinatorRecovery, AWorkerThatComesBackStartsAnew) {
  TestCluster cluster;
  cluster.Begin({1, 2});
  cluster.now += 10.5;
  for (ShardId shard : {0, 1}) EXPECT_TRUE(cluster.Register(shard).ok());
  EXPECT_TRUE(cluster.Join(1).ok()) << "its lease ran out unseen";
  EXPECT_THAT(cluster.coordinator.Tick(cluster.now), ElementsAre("worker2"));
  EXPECT_TRUE(cluster.Join(2).ok());
  EXPECT_EQ(SlotsOf({cluster.NextSlots(2)}), RunOf(0, {4, 8})) << "it is the first that asks";
  EXPECT_EQ(SlotsOf({cluster.NextSlots(1)}), RunOf(0, {0, 4}));
}

TEST(CoordinatorRecovery, LeavingTwiceOrWithoutHavingJoinedIsHarmless) {
  TestCluster cluster;
  cluster.Begin({1, 2});
  cluster.coordinator.Leave(2, cluster.now);
  cluster.coordinator.Leave(2, cluster.now);
  cluster.coordinator.Leave(99, cluster.now);
  EXPECT_EQ(SlotsOf(cluster.Renew(1)), RunOf(0, {4, 8}));
}

TEST(CoordinatorFailure, AFailedJobTurnsEveryoneAwayWithTheReason) {
  TestCluster cluster;
  cluster.Begin({1});
  cluster.coordinator.Fail("the disk is full");
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kFailed);
  const absl::Status join = cluster.Join(2);
  const absl::Status next = cluster.coordinator.NextWork(1, cluster.now).status();
  const absl::Status renew = cluster.coordinator.Renew(1, cluster.now).status();
  for (const absl::Status& status : {join, next, renew}) {
    EXPECT_TRUE(absl::IsAborted(status)) << status;
    EXPECT_EQ(status.message(), "the disk is full");
  }
}

TEST(CoordinatorFailure, TheFirstReasonStaysAndNothingMovesAnyMore) {
  TestCluster cluster;
  cluster.Begin({1});
  cluster.coordinator.Fail("first");
  cluster.coordinator.Fail("second");
  cluster.CompleteStep();
  cluster.coordinator.Close();
  EXPECT_EQ(cluster.coordinator.failure(), "first");
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kFailed);
  EXPECT_EQ(cluster.coordinator.version(), 0);
}

TEST(CoordinatorFailure, ASilentShardFailsTheJob) {
  TestCluster cluster;
  cluster.Begin({1});
  cluster.now += 10;
  cluster.Renew(1);
  cluster.coordinator.Tick(cluster.now);
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kTraining) << "ten seconds are allowed";
  cluster.now += 0.5;
  cluster.coordinator.Tick(cluster.now);
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kFailed);
  EXPECT_THAT(cluster.coordinator.failure(), HasSubstr("shard 1 at host1:7000"));
}

TEST(CoordinatorFailure, AShardThatIsAliveDoesNot) {
  TestCluster cluster;
  cluster.Begin({1});
  for (int i = 0; i < 20; ++i) {
    cluster.now += 9;
    EXPECT_TRUE(cluster.Register(1).ok());
    cluster.coordinator.Tick(cluster.now);
  }
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kTraining);
}

}  // namespace
}  // namespace tributary
