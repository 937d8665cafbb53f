// The two ready models against PyTorch in float64 (make_reference.py).
#include <gtest/gtest.h>

#include <string>

#include "tests/support/reference_file.h"
#include "tests/worker/compute/compute_test_support.h"

namespace tributary {
namespace {

// An element of a gradient is a sum of at most 5 * 676 products in fp32, each off by 2^-24 of its
// size: about sqrt(3380) * 6e-8 = 3.5e-6 of the tensor's largest element, and the layers add up.
constexpr double kTolerance = 2e-5;

struct Case {
  const char* name;
  Model (*model)();
};

class NetworkReference : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const auto arrays =
        ReadReferenceFile(std::string("tests/data/reference_") + GetParam().name + ".bin");
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    arrays_ = *arrays;
    const std::vector<double> parameters = FlatFromArrays(plan_.layout, arrays_, "parameter/");
    network_ = NetworkOrDie(plan_, 8);
    ASSERT_TRUE(
        network_->SetParameters(std::vector<float>(parameters.begin(), parameters.end())).ok());
    // Batch 0 of the three.
    images_ = arrays_.at("images").AsFloats();
    labels_ = arrays_.at("labels").AsInts();
    images_.resize(images_.size() / 3);
    labels_.resize(labels_.size() / 3);
  }

  const ModelPlan plan_ = PlanOrDie(GetParam().model());
  ReferenceArrays arrays_;
  std::unique_ptr<Network> network_;
  std::vector<float> images_;
  std::vector<int32_t> labels_;
};

TEST_P(NetworkReference, LogitsAreThoseOfPyTorch) {
  std::vector<float> logits(labels_.size() * 10);
  const absl::Status status = network_->ComputeLogits(images_, static_cast<int64_t>(labels_.size()),
                                                      absl::MakeSpan(logits));
  ASSERT_TRUE(status.ok()) << status;
  ExpectClose(logits, arrays_.at("logits").values, kTolerance, "logits");
}

TEST_P(NetworkReference, LossAndCorrectPredictionsAreThoseOfPyTorch) {
  const std::vector<double>& logits = arrays_.at("logits").values;
  int64_t correct = 0;
  for (size_t n = 0; n < labels_.size(); ++n) {
    const auto row = logits.begin() + static_cast<int64_t>(n) * 10;
    correct += std::max_element(row, row + 10) - row == labels_[n] ? 1 : 0;
  }
  BatchStatistics evaluated;
  ASSERT_TRUE(network_->Evaluate({images_, labels_}, evaluated).ok());
  const BatchStatistics trained = GradientOf(*network_, plan_, {images_, labels_}).statistics;
  for (const BatchStatistics& statistics : {evaluated, trained}) {
    EXPECT_EQ(statistics.samples, static_cast<int64_t>(labels_.size()));
    EXPECT_EQ(statistics.correct, correct);
    EXPECT_FALSE(statistics.not_finite);
    EXPECT_NEAR(statistics.loss_sum, arrays_.at("loss").values[0],
                kTolerance * arrays_.at("loss").values[0]);
  }
}

TEST_P(NetworkReference, EveryGradientIsThatOfPyTorch) {
  const GradientResult result = GradientOf(*network_, plan_, {images_, labels_});
  ExpectTensorsClose(plan_.layout, result.gradient,
                     FlatFromArrays(plan_.layout, arrays_, "gradient/"), kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Models, NetworkReference,
                         testing::Values(Case{"mnist_cnn", MnistCnn},
                                         Case{"mnist_tf_cnn", MnistTfCnn}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tributary
