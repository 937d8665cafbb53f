#include "worker/trainer/compute_pool.h"

#include <gmock/gmock.h>

#include <bit>
#include <cstring>
#include <vector>

#include "common/training/sample_order.h"
#include "tests/worker/trainer/trainer_fakes.h"

namespace tributary {
namespace {

// The elements of a gradient in fp32.
std::vector<float> Values(const EncodedVector& vector) {
  EXPECT_EQ(vector.type(), WireType::kFp32);
  const absl::string_view bytes = vector.Part({0, 32}).bytes;
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

class ComputePoolTest : public testing::Test {
 protected:
  std::unique_ptr<ComputePool> Pool(int threads) {
    auto pool = ComputePool::Create(job_, data_, source_, threads, MakeHandNetwork);
    EXPECT_TRUE(pool.ok()) << pool.status();
    (*pool)->SetParameters(parameters_);
    return *std::move(pool);
  }

  // What HandNetwork gives for a slot, worked out from the order of the samples alone.
  float Expected(Step step, int32_t slot) const {
    const SampleOrder order(job_.seed, step / 2, 24);
    float labels = 0;
    for (int64_t i = 0; i < 2; ++i) {
      const int64_t position = step % 2 * 12 + slot * 2 + i;
      labels += data_.train.labels[static_cast<size_t>(order.At(position))];
    }
    return parameters_[0] + labels + 0.01F * static_cast<float>(step);
  }

  const Job job_ = HandJob();
  const Dataset data_ = HandData(job_);
  BatchSource source_{data_, job_.data, PlanOf(job_), job_.seed, 4};
  std::vector<float> parameters_ = std::vector<float>(32, 0.25F);
};

TEST_F(ComputePoolTest, AddsTheSlotsUpTheTree) {
  for (const int threads : {1, 2, 5}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    const auto pool = Pool(threads);
    // Slots 0 to 3 are a node, 5 is one by itself.
    const auto gradients = pool->ComputeGradients(2, {5, 0, 3, 2, 1});
    ASSERT_TRUE(gradients.ok()) << gradients.status();
    ASSERT_EQ(gradients->size(), 2U);
    EXPECT_EQ((*gradients)[0].slots, (SlotRange{0, 4}));
    const float sum = (Expected(2, 0) + Expected(2, 1)) + (Expected(2, 2) + Expected(2, 3));
    EXPECT_THAT(Values((*gradients)[0].values), testing::Each(sum));
    EXPECT_EQ((*gradients)[0].statistics.samples, 8);
    EXPECT_EQ((*gradients)[0].statistics.loss_sum, 2);
    EXPECT_EQ((*gradients)[1].slots, (SlotRange{5, 6}));
    EXPECT_EQ(Values((*gradients)[1].values)[31], Expected(2, 5));
  }
}

TEST_F(ComputePoolTest, OneSlotIsItsOwnSum) {
  const auto pool = Pool(2);
  for (const int32_t slot : {4, 1}) {
    const auto gradients = pool->ComputeGradients(1, {slot});
    ASSERT_TRUE(gradients.ok()) << gradients.status();
    ASSERT_EQ(gradients->size(), 1U);
    EXPECT_EQ((*gradients)[0].slots, (SlotRange{slot, slot + 1}));
    EXPECT_EQ(Values((*gradients)[0].values)[0], Expected(1, slot));
  }
}

// The gradient may still be on its way when the next one is computed.
TEST_F(ComputePoolTest, LeavesAGradientAloneThatIsHeld) {
  const auto pool = Pool(1);
  for (const std::vector<int32_t>& slots : {std::vector<int32_t>{4}, {2, 3}}) {
    const auto held = pool->ComputeGradients(0, slots);
    ASSERT_TRUE(held.ok()) << held.status();
    const std::vector<float> before = Values((*held)[0].values);
    ASSERT_TRUE(pool->ComputeGradients(1, slots).ok());
    EXPECT_EQ(Values((*held)[0].values), before);
  }
}

TEST(ComputePoolEncodes, SlotBySlotInAnotherPushType) {
  Job job = HandJob();
  job.transfer.push = WireType::kBf16;
  const Dataset data = HandData(job);
  BatchSource source(data, job.data, PlanOf(job), job.seed, 4);
  for (const int threads : {1, 3}) {
    const auto pool = ComputePool::Create(job, data, source, threads, MakeHandNetwork);
    ASSERT_TRUE(pool.ok()) << pool.status();
    const std::vector<float> parameters(32, 0.25F);
    (*pool)->SetParameters(parameters);
    const auto gradients = (*pool)->ComputeGradients(0, {2, 0, 3});
    ASSERT_TRUE(gradients.ok()) << gradients.status();
    ASSERT_EQ(gradients->size(), 3U);
    const SampleOrder order(job.seed, 0, 24);
    for (const NodeGradient& gradient : *gradients) {
      ASSERT_EQ(gradient.slots.size(), 1);
      float expected = 0.25F;
      for (int64_t i = 0; i < 2; ++i) {
        const int64_t position = gradient.slots.begin * 2 + i;
        expected += static_cast<float>(data.train.labels[static_cast<size_t>(order.At(position))]);
      }
      // A quarter and a small whole number: exact in bf16, the upper half of the fp32.
      const absl::string_view bytes = gradient.values.Part({0, 32}).bytes;
      ASSERT_EQ(bytes.size(), 64U);
      uint16_t half = 0;
      std::memcpy(&half, bytes.data() + 62, sizeof(half));
      EXPECT_EQ(std::bit_cast<float>(uint32_t{half} << 16), expected);
      EXPECT_EQ(gradient.statistics.samples, 2);
    }
    EXPECT_EQ((*gradients)[1].slots, (SlotRange{0, 1}));
  }
}

TEST_F(ComputePoolTest, TakesNewParametersInEveryLane) {
  const auto pool = Pool(3);
  ASSERT_TRUE(pool->ComputeGradients(0, {0, 1, 2, 3, 4, 5}).ok());
  parameters_[0] = 8;
  pool->SetParameters(parameters_);
  const auto gradients = pool->ComputeGradients(0, {0, 1, 2, 3, 4, 5});
  ASSERT_TRUE(gradients.ok()) << gradients.status();
  ASSERT_EQ(gradients->size(), 1U);
  EXPECT_EQ((*gradients)[0].statistics.loss_sum, 12 * 8);
}

TEST_F(ComputePoolTest, EvaluatesUnitsOfTheTestSet) {
  const auto pool = Pool(2);
  const auto results = pool->Evaluate({.version = 4, .units = {2, 0, 1}});
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 3U);
  // Seven samples in units of three.
  const int64_t samples[] = {1, 3, 3};
  const int32_t units[] = {2, 0, 1};
  int64_t correct = 0;
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*results)[i].unit, units[i]);
    EXPECT_EQ((*results)[i].version, 4);
    EXPECT_EQ((*results)[i].statistics.samples, samples[i]);
    correct += (*results)[i].statistics.correct;
  }
  EXPECT_EQ(correct, std::count(data_.test.labels.begin(), data_.test.labels.end(), 0));
}

TEST_F(ComputePoolTest, RefusesAUnitThatTheSetDoesNotHave) {
  const auto pool = Pool(1);
  EXPECT_EQ(pool->Evaluate({.version = 0, .units = {3}}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(pool->Evaluate({.version = 0, .units = {-1}}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ComputePoolTest, HandsOnWhatTheNetworkSays) {
  const auto fail = [](const ModelPlan&, int64_t) -> absl::StatusOr<std::unique_ptr<Network>> {
    return absl::UnimplementedError("no such layer here");
  };
  EXPECT_EQ(ComputePool::Create(job_, data_, source_, 2, fail).status().code(),
            absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace tributary
