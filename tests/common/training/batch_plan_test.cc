#include "common/training/batch_plan.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace tributary {
namespace {

TEST(BatchPlan, EveryPositionOfAnEpochIsInExactlyOneSlotOfOneStep) {
  for (int64_t samples = 1; samples <= 21; ++samples) {
    for (int64_t batch = 1; batch <= 24; ++batch) {
      for (int32_t slots = 1; slots <= 9; ++slots) {
        const BatchPlan plan(samples, batch, slots, 2, 0);
        int64_t position = 0;
        for (Step step = 0; step < plan.total_steps(); ++step) {
          if (step == plan.steps_per_epoch()) position = 0;
          ASSERT_EQ(plan.StepSamples(step).begin, position);
          for (int32_t slot = 0; slot < slots; ++slot) {
            const SampleRange range = plan.SlotSamples(step, slot);
            ASSERT_EQ(range.begin, position) << samples << " " << batch << " " << slots;
            ASSERT_GE(range.size(), 0);
            position = range.end;
          }
          ASSERT_EQ(plan.StepSamples(step).end, position);
          ASSERT_EQ(plan.IsLastOfEpoch(step), position == samples);
        }
        ASSERT_EQ(position, samples);
      }
    }
  }
}

TEST(BatchPlan, EveryBatchButTheLastIsWholeAndSlotsDifferByOneSampleAtMost) {
  for (int64_t samples = 1; samples <= 21; ++samples) {
    for (int64_t batch = 1; batch <= 24; ++batch) {
      for (int32_t slots = 1; slots <= 9; ++slots) {
        const BatchPlan plan(samples, batch, slots, 1, 0);
        int64_t largest = 0;
        for (Step step = 0; step < plan.total_steps(); ++step) {
          const int64_t size = plan.StepSamples(step).size();
          if (!plan.IsLastOfEpoch(step)) {
            ASSERT_EQ(size, batch);
          }
          for (int32_t slot = 0; slot < slots; ++slot) {
            const int64_t slot_size = plan.SlotSamples(step, slot).size();
            ASSERT_TRUE(slot_size == size / slots || slot_size == (size + slots - 1) / slots);
            largest = std::max(largest, slot_size);
          }
        }
        ASSERT_EQ(plan.max_slot_samples(), largest);
      }
    }
  }
}

TEST(BatchPlan, CountsStepsAndEpochs) {
  // 60000 samples in batches of 64: 937 whole ones and one of 32.
  const BatchPlan plan(60000, 64, 4, 10, 0);
  EXPECT_EQ(plan.steps_per_epoch(), 938);
  EXPECT_EQ(plan.total_steps(), 9380);
  EXPECT_EQ(plan.EpochOf(0), 0);
  EXPECT_EQ(plan.EpochOf(937), 0);
  EXPECT_EQ(plan.EpochOf(938), 1);
  EXPECT_TRUE(plan.IsLastOfEpoch(937));
  EXPECT_FALSE(plan.IsLastOfEpoch(938));
  EXPECT_EQ(plan.StepSamples(937), (SampleRange{59968, 60000}));
  EXPECT_EQ(plan.SlotSamples(938, 3), (SampleRange{48, 64}));
  EXPECT_EQ(plan.max_slot_samples(), 16);
}

TEST(BatchPlan, MaxStepsEndsItEarlierButNeverLater) {
  EXPECT_EQ(BatchPlan(100, 10, 1, 3, 0).total_steps(), 30);
  EXPECT_EQ(BatchPlan(100, 10, 1, 3, 7).total_steps(), 7);
  EXPECT_EQ(BatchPlan(100, 10, 1, 3, 31).total_steps(), 30);
}

TEST(BatchPlan, HoldsAtTheLimitsOfADataSet) {
  constexpr int64_t kSamples = int64_t{1} << 31;
  const BatchPlan plan(kSamples, kSamples, 1 << 30, 1'000'000, 0);
  EXPECT_EQ(plan.total_steps(), 1'000'000);
  EXPECT_EQ(plan.SlotSamples(999'999, (1 << 30) - 1), (SampleRange{kSamples - 2, kSamples}));
}

}  // namespace
}  // namespace tributary
