#include "server/shard/learning_rate.h"

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace tributary {
namespace {

// 100 samples in batches of 15: 7 steps an epoch, 70 steps.
const BatchPlan kPlan(100, 15, 1, 10, 0);

// PyTorch's schedules, see make_optimizer_reference.py.
std::vector<double> ReferenceRates(const std::string& wanted) {
  std::ifstream file("tests/data/learning_rate_reference.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    std::vector<double> rates;
    for (double rate; words >> rate;) rates.push_back(rate);
    if (name == wanted) return rates;
  }
  return {};
}

void ExpectRates(const LearningRateConfig& config, const std::vector<double>& expected) {
  ASSERT_EQ(expected.size(), 70);
  for (Step step = 0; step < 70; ++step) {
    EXPECT_NEAR(LearningRateAt(config, kPlan, step), expected[step], 1e-12) << "step " << step;
  }
}

TEST(LearningRate, ConstantIsTheBase) {
  const LearningRateConfig config{.base = 0.25, .schedule = LearningRateConfig::Constant{}};
  for (const Step step : {0, 1, 69, 1000000}) {
    EXPECT_EQ(LearningRateAt(config, kPlan, step), 0.25);
  }
}

TEST(LearningRate, StepDecayIsTorchStepLr) {
  ExpectRates(
      {.base = 0.25, .schedule = LearningRateConfig::StepDecay{.every_epochs = 2, .factor = 0.7}},
      ReferenceRates("step_every_2_epochs_factor_0.7"));
}

TEST(LearningRate, CosineIsTorchCosineAnnealingLr) {
  ExpectRates({.base = 0.25, .schedule = LearningRateConfig::Cosine{.minimum = 0.01}},
              ReferenceRates("cosine_minimum_0.01"));
}

TEST(LearningRate, WarmUpIsALineThatEndsAtTheBase) {
  const LearningRateConfig config{
      .base = 0.5, .warmup_steps = 4, .schedule = LearningRateConfig::Constant{}};
  const std::vector<double> expected{0.125, 0.25, 0.375, 0.5, 0.5, 0.5};
  for (Step step = 0; step < 6; ++step) {
    EXPECT_EQ(LearningRateAt(config, kPlan, step), expected[step]) << "step " << step;
  }
}

TEST(LearningRate, CosineStartsAtTheBaseAfterTheWarmUpAndIsHalfwayInTheMiddle) {
  const LearningRateConfig config{
      .base = 1.0, .warmup_steps = 10, .schedule = LearningRateConfig::Cosine{.minimum = 0.5}};
  EXPECT_EQ(LearningRateAt(config, kPlan, 9), 1.0);
  EXPECT_EQ(LearningRateAt(config, kPlan, 10), 1.0);
  EXPECT_EQ(LearningRateAt(config, kPlan, 40), 0.75);
  EXPECT_GT(LearningRateAt(config, kPlan, 69), 0.5);
  EXPECT_EQ(LearningRateAt(config, kPlan, 70), 0.5);
}

TEST(LearningRate, StepDecayCountsTheEpochsOfTheWarmUpToo) {
  const LearningRateConfig config{
      .base = 1.0,
      .warmup_steps = 10,
      .schedule = LearningRateConfig::StepDecay{.every_epochs = 2, .factor = 0.5}};
  EXPECT_EQ(LearningRateAt(config, kPlan, 13), 1.0);
  EXPECT_EQ(LearningRateAt(config, kPlan, 14), 0.5);
}

TEST(LearningRate, WarmUpMayBeLongerThanTheJob) {
  const LearningRateConfig config{
      .base = 1.0, .warmup_steps = 140, .schedule = LearningRateConfig::Cosine{.minimum = 0.5}};
  EXPECT_EQ(LearningRateAt(config, kPlan, 69), 0.5);
}

}  // namespace
}  // namespace tributary
