#include "server/coordinator/progress.h"

#include "gtest/gtest.h"

namespace tributary {
namespace {

BatchStatistics Batch(int64_t samples, double loss_sum, int64_t correct) {
  return {.samples = samples, .loss_sum = loss_sum, .correct = correct};
}

TEST(Progress, IsZeroBeforeTheFirstStep) {
  ProgressMeter meter;
  meter.Resume(100);
  EXPECT_EQ(meter.loss(), 0);
  EXPECT_EQ(meter.accuracy(), 0);
  EXPECT_EQ(meter.images_per_second(), 0);
  EXPECT_EQ(meter.seconds(), 0);
  EXPECT_EQ(meter.images(), 0);
}

TEST(Progress, AveragesOverSamplesNotOverSteps) {
  ProgressMeter meter;
  meter.Resume(100);
  meter.AddStep(Batch(6, 12, 3), 101);
  meter.AddStep(Batch(2, 4, 1), 104);
  EXPECT_DOUBLE_EQ(meter.loss(), 2);               // 16 / 8
  EXPECT_DOUBLE_EQ(meter.accuracy(), 0.5);         // 4 / 8
  EXPECT_DOUBLE_EQ(meter.images_per_second(), 2);  // 8 in 4 s
  EXPECT_DOUBLE_EQ(meter.seconds(), 4);
  EXPECT_EQ(meter.images(), 8);
}

TEST(Progress, DoesNotCountTheTimeOfAnEvaluation) {
  ProgressMeter meter;
  meter.Resume(100);
  meter.AddStep(Batch(10, 1, 1), 101);
  meter.Pause(102);
  meter.Resume(1000);
  meter.AddStep(Batch(10, 1, 1), 1003);
  EXPECT_DOUBLE_EQ(meter.seconds(), 5);
  EXPECT_DOUBLE_EQ(meter.images_per_second(), 4);  // 20 in 5 s
}

TEST(Progress, LooksAtTheLastHundredSteps) {
  ProgressMeter meter;
  meter.Resume(0);
  double now = 0;
  // Slow and bad at first: 10 s for 1 image, then 1 s for 4.
  for (int i = 0; i < 50; ++i) meter.AddStep(Batch(1, 100, 0), now += 10);
  for (int i = 0; i < 100; ++i) meter.AddStep(Batch(4, 8, 3), now += 1);
  EXPECT_DOUBLE_EQ(meter.loss(), 2);
  EXPECT_DOUBLE_EQ(meter.accuracy(), 0.75);
  EXPECT_DOUBLE_EQ(meter.images_per_second(), 4);
  EXPECT_DOUBLE_EQ(meter.seconds(), 600);
  EXPECT_EQ(meter.images(), 450);
}

TEST(Progress, CountsSkippedStepsAndLeavesThemOutOfTheLoss) {
  ProgressMeter meter;
  meter.Resume(0);
  meter.AddStep(Batch(4, 8, 2), 1);
  BatchStatistics bad = Batch(4, 1e30, 0);
  bad.not_finite = true;
  meter.AddStep(bad, 2);
  EXPECT_EQ(meter.skipped_steps(), 1);
  EXPECT_DOUBLE_EQ(meter.loss(), 2);
  EXPECT_DOUBLE_EQ(meter.accuracy(), 0.5);
  EXPECT_DOUBLE_EQ(meter.images_per_second(), 4);
}

TEST(Progress, StepsThatTakeNoTimeGiveNoRate) {
  ProgressMeter meter;
  meter.Resume(5);
  meter.AddStep(Batch(4, 8, 2), 5);
  EXPECT_EQ(meter.images_per_second(), 0);
}

}  // namespace
}  // namespace tributary
