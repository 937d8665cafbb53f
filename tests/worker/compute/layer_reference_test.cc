// Each kind of layer with unusual options, against PyTorch in float64 (make_reference.py) and
// against finite differences.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/reference_file.h"
#include "tests/worker/compute/compute_test_support.h"
#include "tests/worker/compute/layer_cases.h"

namespace tributary {
namespace {

// Sums of a few hundred products in fp32: sqrt(400) * 6e-8 = 1.2e-6 of the largest, over three
// layers; oneDNN's polynomials for tanh, sigmoid and erf are good to some 1e-6.
constexpr double kTolerance = 1e-5;

class LayerReference : public testing::TestWithParam<LayerCase> {
 protected:
  void SetUp() override {
    const auto arrays = ReadReferenceFile("tests/data/reference_layers.bin");
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    arrays_ = *arrays;
    const std::vector<double> parameters =
        FlatFromArrays(plan_.layout, arrays_, prefix_ + "parameter/");
    parameters_.assign(parameters.begin(), parameters.end());
    images_ = arrays_.at(prefix_ + "images").AsFloats();
    labels_ = arrays_.at(prefix_ + "labels").AsInts();
    network_ = NetworkOrDie(plan_, 3);
    ASSERT_TRUE(network_->SetParameters(parameters_).ok());
  }

  Batch batch() const { return {images_, labels_}; }

  double LossAt(const std::vector<float>& parameters) {
    EXPECT_TRUE(network_->SetParameters(parameters).ok());
    return GradientOf(*network_, plan_, batch()).statistics.loss_sum;
  }

  const ModelPlan plan_ = PlanOrDie(GetParam().model);
  const std::string prefix_ = GetParam().name + "/";
  ReferenceArrays arrays_;
  std::vector<float> parameters_;
  std::vector<float> images_;
  std::vector<int32_t> labels_;
  std::unique_ptr<Network> network_;
};

TEST_P(LayerReference, LogitsAndLossAreThoseOfPyTorch) {
  std::vector<float> logits(labels_.size() * 3);
  ASSERT_TRUE(network_->ComputeLogits(images_, 3, absl::MakeSpan(logits)).ok());
  ExpectClose(logits, arrays_.at(prefix_ + "logits").values, kTolerance, "logits");
  const double loss = arrays_.at(prefix_ + "loss").values[0];
  EXPECT_NEAR(LossAt(parameters_), loss, kTolerance * loss);
}

TEST_P(LayerReference, EveryGradientIsThatOfPyTorch) {
  const GradientResult result = GradientOf(*network_, plan_, batch());
  ExpectTensorsClose(plan_.layout, result.gradient,
                     FlatFromArrays(plan_.layout, arrays_, prefix_ + "gradient/"), kTolerance);
}

// The slope of the loss along random directions. Along a few of them a unit passes a kink of relu
// or max within the step, where a finite difference is no derivative; a wrong gradient is wrong
// along all. The rounding of the logits, some 1e-6 of loss, is an error of 5e-3 in a slope; the
// terms of a slope sum up to `scale`, 5 to 100.
TEST_P(LayerReference, GradientsAgreeWithFiniteDifferences) {
  const GradientResult result = GradientOf(*network_, plan_, batch());
  constexpr float kStep = 1e-4f;
  int agreeing = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const std::vector<float> direction = RandomFloats(seed, plan_.layout.elements());
    std::vector<float> forward = parameters_;
    std::vector<float> back = parameters_;
    double slope = 0;
    double scale = 0;
    for (size_t i = 0; i < forward.size(); ++i) {
      forward[i] += kStep * direction[i];
      back[i] -= kStep * direction[i];
      slope += static_cast<double>(result.gradient[i]) * direction[i];
      scale += std::abs(static_cast<double>(result.gradient[i]) * direction[i]);
    }
    const double difference = (LossAt(forward) - LossAt(back)) / (2 * kStep);
    agreeing += std::abs(difference - slope) < 2e-3 * scale + 5e-3 ? 1 : 0;
  }
  EXPECT_GE(agreeing, 9) << "of 12 directions";
}

INSTANTIATE_TEST_SUITE_P(Layers, LayerReference, testing::ValuesIn(LayerCases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tributary
