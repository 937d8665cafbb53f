// When the test set is evaluated, by whom, and how a job ends.
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

// One step is the whole job; then units 0, 1 and 2 of 4, 4 and 2 images.
Job OneStepJob() {
  Job job = TestJob();
  job.training.max_steps = 1;
  return job;
}

// Carries out the evaluation in progress.
void EvaluateAll(TestCluster& cluster) {
  ASSERT_EQ(cluster.coordinator.phase(), Phase::kEvaluating);
  EXPECT_TRUE(cluster.Report(0, 4, 3).ok());
  EXPECT_TRUE(cluster.Report(1, 4, 2).ok());
  EXPECT_TRUE(cluster.Report(2, 2, 1).ok());
}

// The versions that a job with these settings evaluates, in steps of 3 an epoch.
std::vector<Version> EvaluatedVersions(int64_t epochs, int64_t every_epochs, int64_t max_steps) {
  Job job = TestJob();
  job.training.epochs = epochs;
  job.training.max_steps = max_steps;
  job.evaluation.every_epochs = every_epochs;
  TestCluster cluster(job);
  cluster.Begin({1});
  for (int i = 0; i < 100 && cluster.coordinator.phase() != Phase::kFinished; ++i) {
    if (cluster.coordinator.phase() == Phase::kEvaluating) {
      EvaluateAll(cluster);
    } else {
      cluster.CompleteStep();
    }
  }
  std::vector<Version> versions;
  for (const EvaluationSummary& summary : cluster.coordinator.evaluations()) {
    versions.push_back(summary.version);
    EXPECT_EQ(summary.statistics.samples, 10);
    EXPECT_EQ(summary.statistics.correct, 6);
    EXPECT_EQ(summary.statistics.loss_sum, 1.5);
  }
  return versions;
}

TEST(CoordinatorEvaluation, ComesAfterEverySoManyEpochsAndAtTheEnd) {
  EXPECT_THAT(EvaluatedVersions(4, 0, 0), ElementsAre(12));
  EXPECT_THAT(EvaluatedVersions(4, 1, 0), ElementsAre(3, 6, 9, 12));
  EXPECT_THAT(EvaluatedVersions(5, 2, 0), ElementsAre(6, 12, 15));
  EXPECT_THAT(EvaluatedVersions(2, 3, 0), ElementsAre(6));
}

TEST(CoordinatorEvaluation, ComesAtTheEndThatMaxStepsSets) {
  EXPECT_THAT(EvaluatedVersions(4, 1, 7), ElementsAre(3, 6, 7));
  EXPECT_THAT(EvaluatedVersions(4, 1, 6), ElementsAre(3, 6)) << "once, not twice";
  EXPECT_THAT(EvaluatedVersions(4, 0, 1), ElementsAre(1));
  EXPECT_THAT(EvaluatedVersions(2, 0, 1000), ElementsAre(6)) << "the epochs end first";
}

TEST(CoordinatorEvaluation, TheUnitsAreShared) {
  TestCluster cluster(OneStepJob());
  cluster.Begin({1, 2});
  cluster.CompleteStep();
  EXPECT_THAT(cluster.NextUnits(1), ElementsAre(0, 1));
  EXPECT_THAT(cluster.NextUnits(1), ElementsAre(0, 1)) << "asking twice is harmless";
  EXPECT_THAT(cluster.NextUnits(2), ElementsAre(2));
  EXPECT_TRUE(cluster.Report(0, 4, 1).ok());
  EXPECT_THAT(cluster.NextUnits(1), ElementsAre(1));
  EXPECT_TRUE(cluster.Report(1, 4, 1).ok());
  EXPECT_TRUE(cluster.HasToWait(1));
}

TEST(CoordinatorEvaluation, TheFirstResultOfAUnitCounts) {
  TestCluster cluster(OneStepJob());
  cluster.Begin({1});
  cluster.CompleteStep();
  EXPECT_TRUE(cluster.Report(0, 4, 4).ok());
  EXPECT_TRUE(cluster.Report(0, 4, 0).ok());
  EXPECT_TRUE(cluster.Report(1, 4, 4).ok());
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kEvaluating);
  EXPECT_TRUE(cluster.Report(2, 2, 2).ok());
  ASSERT_EQ(cluster.coordinator.evaluations().size(), 1);
  EXPECT_EQ(cluster.coordinator.evaluations()[0].version, 1);
  EXPECT_EQ(cluster.coordinator.evaluations()[0].statistics.correct, 10);
}

TEST(CoordinatorEvaluation, ResultsOfAnotherVersionOrAtAnotherTimeAreDropped) {
  Job job = TestJob();
  job.evaluation.every_epochs = 1;
  TestCluster cluster(job);
  cluster.Begin({1});
  const EvaluationResult early{.version = 3, .unit = 0, .statistics = {.samples = 4}};
  EXPECT_TRUE(cluster.coordinator.ReportEvaluation(early, cluster.now).ok());
  for (int i = 0; i < 3; ++i) cluster.CompleteStep();
  EvaluateAll(cluster);
  for (int i = 0; i < 3; ++i) cluster.CompleteStep();
  EXPECT_TRUE(cluster.coordinator.ReportEvaluation(early, cluster.now).ok()) << "of epoch 1";
  EXPECT_TRUE(cluster.Report(1, 4, 0).ok());
  EXPECT_TRUE(cluster.Report(2, 2, 0).ok());
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kEvaluating) << "unit 0 is still missing";
  EXPECT_EQ(cluster.coordinator.evaluations().size(), 1);
}

TEST(CoordinatorEvaluation, RefusesUnitsAndCountsThatAreNone) {
  struct Case {
    int32_t unit;
    int64_t samples;
    int64_t correct;
    std::string message;
  };
  TestCluster cluster(OneStepJob());
  cluster.Begin({1});
  cluster.CompleteStep();
  for (const Case& c :
       {Case{-1, 4, 1, "found -1, allowed 0 to 2"}, Case{3, 4, 1, "found 3, allowed 0 to 2"},
        Case{INT32_MAX, 4, 1, "allowed 0 to 2"}, Case{0, 3, 1, "1 correct of 3 samples"},
        Case{2, 4, 1, "expected at most 2 of 2"}, Case{0, 4, 5, "5 correct of 4"},
        Case{0, 4, -1, "-1 correct of 4"}}) {
    const absl::Status status = cluster.Report(c.unit, c.samples, c.correct);
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << c.message;
    EXPECT_THAT(std::string(status.message()), HasSubstr(c.message));
  }
  EXPECT_THAT(cluster.NextUnits(1), ElementsAre(0, 1, 2)) << "nothing was counted";
}

TEST(CoordinatorEvaluation, TheUnitsOfALostWorkerAreGivenOutAgain) {
  TestCluster cluster(OneStepJob());
  cluster.Begin({1, 2});
  cluster.CompleteStep();
  EXPECT_THAT(cluster.NextUnits(1), ElementsAre(0, 1));
  EXPECT_TRUE(cluster.Report(0, 4, 1).ok());
  cluster.coordinator.Leave(1, cluster.now);
  EXPECT_THAT(cluster.NextUnits(2), ElementsAre(2, 1));
}

TEST(CoordinatorEvaluation, TheLastStepsSlotsOfALostWorkerComeBeforeTheUnits) {
  // It may not have pushed them everywhere, and then a shard does not have the version.
  TestCluster cluster(OneStepJob());
  cluster.Begin({1, 2});
  cluster.CompleteStep();
  cluster.coordinator.Leave(1, cluster.now);
  EXPECT_EQ(SlotsOf({cluster.NextSlots(2)}), SlotsOf({{0, {{0, 4}}}}));
  EXPECT_THAT(cluster.NextUnits(2), ElementsAre(0, 1, 2));
}

TEST(CoordinatorEvaluation, AResultShowsThatEveryShardHasTheVersion) {
  TestCluster cluster(OneStepJob());
  cluster.Begin({1, 2});
  cluster.CompleteStep();
  cluster.coordinator.Leave(1, cluster.now);
  EXPECT_EQ(SlotsOf(cluster.Renew(2)), SlotsOf({{0, {{0, 4}}}}));
  EXPECT_TRUE(cluster.Report(0, 4, 1).ok());
  EXPECT_THAT(cluster.Renew(2), IsEmpty());
}

TEST(CoordinatorEvaluation, AWorkerThatJoinsMeanwhileHelps) {
  TestCluster cluster(OneStepJob());
  cluster.Begin({1});
  cluster.CompleteStep();
  EXPECT_TRUE(cluster.Join(2).ok());
  EXPECT_THAT(cluster.NextUnits(2), ElementsAre(0, 1));
  EXPECT_THAT(cluster.NextUnits(1), ElementsAre(2));
}

TEST(CoordinatorEvaluation, TrainingGoesOnAfterwards) {
  Job job = TestJob();
  job.evaluation.every_epochs = 1;
  TestCluster cluster(job);
  cluster.Begin({1});
  for (int i = 0; i < 3; ++i) cluster.CompleteStep();
  EvaluateAll(cluster);
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kTraining);
  EXPECT_EQ(cluster.NextSlots(1).step, 3);
}

TEST(CoordinatorEnd, WorkersLeaveAFinishedJobAndShardsAClosedOne) {
  TestCluster cluster(OneStepJob());
  cluster.Begin({1});
  cluster.coordinator.Close();
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kTraining) << "the model is not there yet";
  cluster.CompleteStep();
  EvaluateAll(cluster);
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kFinished);
  EXPECT_EQ(cluster.coordinator.WaitingFor(), "");
  EXPECT_TRUE(cluster.Join(2).ok());
  for (const SessionId session : {1, 2}) {
    const auto work = cluster.coordinator.NextWork(session, cluster.now);
    ASSERT_TRUE(work.ok());
    EXPECT_EQ(std::get<FinishedOrder>(*work).version, 1);
  }
  cluster.coordinator.Leave(1, cluster.now);
  cluster.coordinator.Leave(2, cluster.now);
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kFinished);
  cluster.coordinator.Close();
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kClosed);
}

TEST(CoordinatorEnd, AShardThatIsLostBeforeTheModelIsWrittenFailsTheJob) {
  TestCluster cluster(OneStepJob());
  cluster.Begin({1});
  cluster.CompleteStep();
  EvaluateAll(cluster);
  cluster.now += 11;
  cluster.coordinator.Tick(cluster.now);
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kFailed);
}

TEST(CoordinatorEnd, AClosedJobDoesNotFail) {
  TestCluster cluster(OneStepJob());
  cluster.Begin({1});
  cluster.CompleteStep();
  EvaluateAll(cluster);
  cluster.coordinator.Close();
  cluster.now += 11;
  cluster.coordinator.Tick(cluster.now);
  cluster.coordinator.Fail("too late");
  EXPECT_EQ(cluster.coordinator.phase(), Phase::kClosed);
}

}  // namespace
}  // namespace tributary
