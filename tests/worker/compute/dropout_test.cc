// Dropout's masks, recomputed from the generator's contract (worker/compute/cpu/dropout.cc).
#include <gtest/gtest.h>

#include <cmath>

#include "common/base/philox.h"
#include "tests/worker/compute/compute_test_support.h"

namespace tributary {
namespace {

constexpr double kProbability = 0.3;
const Shape kInput = {3, 2, 4};
constexpr DropoutKey kKey = {.seed = 0x123456789a, .step = 77, .first_position = 13};

bool IsKept(const DropoutKey& key, uint64_t layer, int64_t sample, int64_t element) {
  const RandomStream stream(key.seed, RandomUse::kDropout,
                            layer << 36 | static_cast<uint64_t>(key.step));
  const auto index =
      static_cast<uint64_t>((key.first_position + sample) * kInput.elements() + element);
  return UnitFloat(stream.At(index / 4)[index % 4]) >= kProbability;
}

// Dropout of the images, then one dense layer. With one sample the weight's gradient is the bias's
// gradient times the dense layer's input: what dropout made of the image.
class DropoutOfImages : public testing::Test {
 protected:
  std::vector<float> InputOfDense(const DropoutKey& key, int64_t sample) {
    const int64_t elements = kInput.elements();
    DropoutKey one = key;
    one.first_position += sample;
    const GradientResult result =
        GradientOf(*network_, plan_,
                   {absl::MakeConstSpan(images_.images).subspan(sample * elements, elements),
                    absl::MakeConstSpan(images_.labels).subspan(sample, 1)},
                   one);
    const int64_t bias = plan_.layout.tensors()[1].offset;
    std::vector<float> input;
    for (int64_t e = 0; e < elements; ++e) {
      input.push_back(result.gradient[e] / result.gradient[bias]);
    }
    return input;
  }

  const ModelPlan plan_ =
      PlanOrDie(MakeModel(kInput, {Dropout(kProbability), Flatten(), DenseTo("fc", 2), Loss()}));
  const TestBatch images_ = RandomBatch(plan_, 1, 5);
  std::unique_ptr<Network> network_ = NetworkOrDie(plan_, 5);

  void SetUp() override { ASSERT_TRUE(network_->SetParameters(RandomParameters(plan_, 3)).ok()); }
};

TEST_F(DropoutOfImages, KeepsWhatTheGeneratorSaysAndScalesIt) {
  int kept = 0;
  for (int64_t n = 0; n < 5; ++n) {
    const std::vector<float> input = InputOfDense(kKey, n);
    for (int64_t e = 0; e < kInput.elements(); ++e) {
      const float pixel = images_.images[n * kInput.elements() + e];
      const bool is_kept = IsKept(kKey, 0, n, e);
      kept += is_kept ? 1 : 0;
      EXPECT_NEAR(input[e], is_kept ? pixel / (1 - kProbability) : 0.0, 1e-6) << n << " " << e;
    }
  }
  EXPECT_NEAR(kept, 0.7 * 5 * 24, 20);  // four standard deviations
}

TEST_F(DropoutOfImages, DoesNotDependOnHowTheSamplesAreCutIntoBatches) {
  const GradientResult together = GradientOf(*network_, plan_, images_.batch(), kKey);
  std::vector<double> sum(plan_.layout.elements(), 0.0);
  for (int64_t n = 0; n < 5; ++n) {
    DropoutKey key = kKey;
    key.first_position += n;
    const int64_t elements = kInput.elements();
    const GradientResult alone =
        GradientOf(*network_, plan_,
                   {absl::MakeConstSpan(images_.images).subspan(n * elements, elements),
                    absl::MakeConstSpan(images_.labels).subspan(n, 1)},
                   key);
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += alone.gradient[i];
  }
  ExpectTensorsClose(plan_.layout, together.gradient, sum, 1e-6);
}

TEST_F(DropoutOfImages, ChangesWithStepAndSeed) {
  DropoutKey other_step = kKey;
  ++other_step.step;
  DropoutKey other_seed = kKey;
  ++other_seed.seed;
  EXPECT_EQ(InputOfDense(kKey, 0), InputOfDense(kKey, 0));
  EXPECT_NE(InputOfDense(kKey, 0), InputOfDense(other_step, 0));
  EXPECT_NE(InputOfDense(kKey, 0), InputOfDense(other_seed, 0));
}

TEST_F(DropoutOfImages, DoesNothingInEvaluation) {
  const ModelPlan plain = PlanOrDie(MakeModel(kInput, {Flatten(), DenseTo("fc", 2), Loss()}));
  const auto expected = NetworkOrDie(plain, 5);
  ASSERT_TRUE(expected->SetParameters(RandomParameters(plan_, 3)).ok());
  BatchStatistics with;
  BatchStatistics without;
  ASSERT_TRUE(network_->Evaluate(images_.batch(), with).ok());
  ASSERT_TRUE(expected->Evaluate(images_.batch(), without).ok());
  EXPECT_EQ(with.loss_sum, without.loss_sum);
}

// With a fixed key the mask is fixed and the loss is smooth: its slope is the gradient. Two layers
// of dropout, in place and not, between layers that look at their outputs in the backward pass.
TEST(DropoutInside, GradientsAgreeWithFiniteDifferences) {
  const ModelPlan plan = PlanOrDie(MakeModel(
      {2, 4, 4}, {Conv("conv", {.out_channels = 3, .kernel = {2, 2}}), Dropout(kProbability),
                  Flatten(), DenseTo("fc1", 6), Activation(ActivationLayer::Kind::kTanh),
                  Dropout(kProbability), DenseTo("fc2", 3), Loss()}));
  const auto network = NetworkOrDie(plan, 4);
  const TestBatch batch = RandomBatch(plan, 1, 4);
  const std::vector<float> parameters = RandomParameters(plan, 2);
  const auto loss_at = [&](float step, const std::vector<float>& direction) {
    std::vector<float> moved = parameters;
    for (size_t i = 0; i < moved.size(); ++i) moved[i] += step * direction[i];
    EXPECT_TRUE(network->SetParameters(moved).ok());
    return GradientOf(*network, plan, batch.batch(), kKey);
  };
  constexpr float kStep = 1e-2f;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const std::vector<float> direction = RandomFloats(seed, plan.layout.elements());
    const GradientResult here = loss_at(0, direction);
    double slope = 0;
    for (size_t i = 0; i < direction.size(); ++i) {
      slope += static_cast<double>(here.gradient[i]) * direction[i];
    }
    const double difference = (loss_at(kStep, direction).statistics.loss_sum -
                               loss_at(-kStep, direction).statistics.loss_sum) /
                              (2 * kStep);
    EXPECT_NEAR(difference, slope, 2e-3 * std::max(1.0, std::abs(slope)));
  }
}

}  // namespace
}  // namespace tributary
