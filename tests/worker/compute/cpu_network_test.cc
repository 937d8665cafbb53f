// The contract of worker/compute/backend.h, for the CPU backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/worker/compute/compute_test_support.h"
#include "tests/worker/compute/layer_cases.h"
#include "worker/compute/cpu/cpu_network.h"

namespace tributary {
namespace {

struct Case {
  std::string name;
  Model model;
};

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

std::unique_ptr<Network> RandomNetwork(const ModelPlan& plan, int64_t max_batch) {
  std::unique_ptr<Network> network = NetworkOrDie(plan, max_batch);
  EXPECT_TRUE(network->SetParameters(RandomParameters(plan, 7)).ok());
  return network;
}

std::vector<float> LogitsOf(Network& network, const ModelPlan& plan, const TestBatch& batch) {
  std::vector<float> logits(batch.labels.size() * plan.classes);
  const absl::Status status =
      network.ComputeLogits(batch.images, batch.batch().size(), absl::MakeSpan(logits));
  EXPECT_TRUE(status.ok()) << status;
  return logits;
}

class CpuNetwork : public testing::TestWithParam<Case> {
 protected:
  const ModelPlan plan_ = PlanOrDie(GetParam().model);
};

TEST_P(CpuNetwork, TheSameBatchGivesTheSameBits) {
  const auto network = RandomNetwork(plan_, 20);
  const TestBatch batch = RandomBatch(plan_, 1, 20);
  const GradientResult first = GradientOf(*network, plan_, batch.batch());
  const GradientResult second = GradientOf(*network, plan_, batch.batch());
  EXPECT_TRUE(SameBits(first.gradient, second.gradient));
  EXPECT_EQ(first.statistics.loss_sum, second.statistics.loss_sum);
}

TEST_P(CpuNetwork, ASmallerBatchAfterABiggerOneGivesTheBitsOfAFreshNetwork) {
  const auto used = RandomNetwork(plan_, 20);
  GradientOf(*used, plan_, RandomBatch(plan_, 1, 20).batch());
  GradientOf(*used, plan_, RandomBatch(plan_, 2, 3).batch());
  for (const int64_t size : {1, 3, 17}) {
    const TestBatch batch = RandomBatch(plan_, 3, size);
    const auto fresh = RandomNetwork(plan_, 20);
    EXPECT_TRUE(SameBits(GradientOf(*used, plan_, batch.batch()).gradient,
                         GradientOf(*fresh, plan_, batch.batch()).gradient))
        << size;
  }
}

TEST_P(CpuNetwork, MoreSizesThanAreKeptGiveTheSameBitsAgain) {
  const auto network = RandomNetwork(plan_, 12);
  std::vector<GradientResult> first;
  for (int64_t size = 1; size <= 12; ++size) {
    first.push_back(GradientOf(*network, plan_, RandomBatch(plan_, size, size).batch()));
  }
  for (int64_t size = 1; size <= 12; ++size) {
    EXPECT_TRUE(
        SameBits(first[size - 1].gradient,
                 GradientOf(*network, plan_, RandomBatch(plan_, size, size).batch()).gradient))
        << size;
  }
}

TEST_P(CpuNetwork, TwoNetworksOnTwoThreadsGiveTheBitsOfOne) {
  const TestBatch batch = RandomBatch(plan_, 1, 20);
  const auto one = RandomNetwork(plan_, 20);
  const GradientResult expected = GradientOf(*one, plan_, batch.batch());
  std::vector<GradientResult> found(2);
  std::vector<std::thread> threads;
  for (GradientResult& result : found) {
    threads.emplace_back([&] {
      const auto network = RandomNetwork(plan_, 20);
      for (int i = 0; i < 5; ++i) result = GradientOf(*network, plan_, batch.batch());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const GradientResult& result : found) {
    EXPECT_TRUE(SameBits(result.gradient, expected.gradient));
  }
}

TEST_P(CpuNetwork, AnEmptyBatchGivesZeros) {
  const auto network = RandomNetwork(plan_, 4);
  const GradientResult result = GradientOf(*network, plan_, Batch{});
  for (const float value : result.gradient) ASSERT_EQ(value, 0.0f);
  EXPECT_EQ(result.statistics.samples, 0);
  EXPECT_EQ(result.statistics.loss_sum, 0);
  EXPECT_FALSE(result.statistics.not_finite);
  BatchStatistics evaluated;
  EXPECT_TRUE(network->Evaluate({}, evaluated).ok());
  EXPECT_EQ(evaluated.samples, 0);
}

// Each sample's gradient, computed alone, sums up to the batch's: fp32 sums in another order, so
// to some 1e-6 of the largest element for each tensor.
TEST_P(CpuNetwork, TheGradientIsTheSumOverTheSamples) {
  constexpr int64_t kSize = 19;
  const auto network = RandomNetwork(plan_, kSize);
  const TestBatch batch = RandomBatch(plan_, 5, kSize);
  const int64_t elements = plan_.model.input.elements();
  std::vector<double> sum(plan_.layout.elements(), 0.0);
  double loss = 0;
  for (int64_t n = 0; n < kSize; ++n) {
    const absl::Span<const float> image =
        absl::MakeConstSpan(batch.images).subspan(n * elements, elements);
    const GradientResult alone =
        GradientOf(*network, plan_, {image, absl::MakeConstSpan(batch.labels).subspan(n, 1)});
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += alone.gradient[i];
    loss += alone.statistics.loss_sum;
  }
  const GradientResult together = GradientOf(*network, plan_, batch.batch());
  ExpectTensorsClose(plan_.layout, together.gradient, sum, 1e-5);
  EXPECT_NEAR(together.statistics.loss_sum, loss, 1e-5 * loss);
}

TEST_P(CpuNetwork, ARowOfTheBatchDoesNotInfluenceTheOthers) {
  for (const int64_t size : {5, 33}) {
    const auto network = RandomNetwork(plan_, size);
    TestBatch batch = RandomBatch(plan_, 1, size);
    const std::vector<float> before = LogitsOf(*network, plan_, batch);
    const int64_t changed = size / 2;
    const int64_t elements = plan_.model.input.elements();
    for (int64_t i = 0; i < elements; ++i) {
      batch.images[changed * elements + i] = std::numeric_limits<float>::quiet_NaN();
    }
    const std::vector<float> after = LogitsOf(*network, plan_, batch);
    for (int64_t n = 0; n < size; ++n) {
      const auto row = [&](const std::vector<float>& logits) {
        return std::vector<float>(logits.begin() + n * plan_.classes,
                                  logits.begin() + (n + 1) * plan_.classes);
      };
      EXPECT_EQ(SameBits(row(before), row(after)), n != changed) << n << " of " << size;
    }
  }
}

TEST_P(CpuNetwork, EvaluationOfAnySizeCountsEveryImageOnce) {
  constexpr int64_t kSize = 150;  // more than two of the pieces that evaluation works in
  const auto network = RandomNetwork(plan_, kSize);
  const TestBatch batch = RandomBatch(plan_, 1, kSize);
  BatchStatistics evaluated;
  ASSERT_TRUE(network->Evaluate(batch.batch(), evaluated).ok());
  const std::vector<float> logits = LogitsOf(*network, plan_, batch);
  int64_t correct = 0;
  double loss = 0;
  for (int64_t n = 0; n < kSize; ++n) {
    const auto row = logits.begin() + n * plan_.classes;
    const auto end = row + plan_.classes;
    correct += std::max_element(row, end) - row == batch.labels[n] ? 1 : 0;
    double sum = 0;
    for (auto x = row; x != end; ++x) sum += std::exp(static_cast<double>(*x));
    loss += std::log(sum) - row[batch.labels[n]];
  }
  EXPECT_EQ(evaluated.samples, kSize);
  EXPECT_EQ(evaluated.correct, correct);
  EXPECT_NEAR(evaluated.loss_sum, loss, 1e-9 * loss);
}

TEST_P(CpuNetwork, ANonFiniteParameterIsReported) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const ParameterTensor& tensor : plan_.layout.tensors()) {
      std::vector<float> parameters = RandomParameters(plan_, 7);
      parameters[tensor.offset + tensor.elements / 2] = bad;
      const auto network = NetworkOrDie(plan_, 2);
      ASSERT_TRUE(network->SetParameters(parameters).ok());
      EXPECT_TRUE(
          GradientOf(*network, plan_, RandomBatch(plan_, 1, 2).batch()).statistics.not_finite)
          << tensor.name << " " << bad;
    }
  }
}

TEST_P(CpuNetwork, ANonFinitePixelIsReported) {
  const auto network = RandomNetwork(plan_, 20);
  TestBatch batch = RandomBatch(plan_, 1, 20);
  EXPECT_FALSE(GradientOf(*network, plan_, batch.batch()).statistics.not_finite);
  batch.images[batch.images.size() / 2] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(GradientOf(*network, plan_, batch.batch()).statistics.not_finite);
}

TEST_P(CpuNetwork, SizesThatDoNotFitAreRefused) {
  const auto network = RandomNetwork(plan_, 4);
  const auto code = [&](int64_t images, int64_t labels, int64_t gradient) {
    const std::vector<float> pixels(images * plan_.model.input.elements());
    const std::vector<int32_t> classes(labels);
    std::vector<float> out(gradient);
    BatchStatistics statistics;
    return network->ComputeGradient({pixels, classes}, {}, absl::MakeSpan(out), statistics).code();
  };
  const int64_t elements = plan_.layout.elements();
  EXPECT_EQ(code(4, 4, elements), absl::StatusCode::kOk);
  EXPECT_EQ(code(5, 5, elements), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(3, 4, elements), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(4, 4, elements - 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(network->SetParameters(std::vector<float>(elements - 1)).code(),
            absl::StatusCode::kInvalidArgument);
}

std::vector<Case> Cases() {
  std::vector<Case> cases = {{"mnist_cnn", MnistCnn()}, {"mnist_tf_cnn", MnistTfCnn()}};
  for (const LayerCase& layer_case : LayerCases()) {
    if (layer_case.name == "conv_everything" || layer_case.name == "conv_max_pool_relu" ||
        layer_case.name == "conv_max_pool_overlap") {
      cases.push_back({layer_case.name, layer_case.model});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Models, CpuNetwork, testing::ValuesIn(Cases()),
                         [](const auto& test) { return test.param.name; });

// A 1x1 convolution with weights (1, 1) makes every output 1; the first pixel is (1, 0), all others
// (0, 1). PyTorch's gradient goes to the first of the equal ones, so that of the weight is (g, 0).
TEST(CpuNetworkPooling, TheGradientGoesToTheFirstOfEqualElements) {
  for (const int64_t kernel : {2, 3}) {
    for (const bool joined : {true, false}) {
      std::vector<Layer> layers = {Conv("x", {.out_channels = 1, .bias = false})};
      if (!joined) layers.push_back(Activation(ActivationLayer::Kind::kTanh));
      layers.insert(layers.end(), {Pool({.kernel = {kernel, kernel}, .stride = {kernel, kernel}}),
                                   Flatten(), DenseTo("post", 2), Loss()});
      const ModelPlan plan = PlanOrDie(MakeModel({2, kernel, kernel}, layers));
      const int64_t pixels = kernel * kernel;
      std::vector<float> image(2 * pixels, 0.0f);
      image[0] = 1;
      std::fill(image.begin() + pixels + 1, image.end(), 1.0f);
      std::vector<float> parameters(plan.layout.elements(), 0.0f);
      parameters[0] = parameters[1] = 1;
      parameters[plan.layout.tensors()[1].offset] = 1;  // post.weight[0, 0]
      const auto network = NetworkOrDie(plan, 1);
      ASSERT_TRUE(network->SetParameters(parameters).ok());
      const std::vector<int32_t> label = {1};
      const GradientResult result = GradientOf(*network, plan, {image, label});
      EXPECT_GT(result.gradient[0], 0.1f);
      EXPECT_EQ(result.gradient[1], 0.0f);
    }
  }
}

TEST(CpuNetworkLoss, OfEqualLogitsTheFirstIsThePrediction) {
  const ModelPlan plan = PlanOrDie(MnistCnn());
  const auto network = NetworkOrDie(plan, 3);
  ASSERT_TRUE(network->SetParameters(std::vector<float>(plan.layout.elements(), 0.0f)).ok());
  TestBatch batch = RandomBatch(plan, 1, 3);
  batch.labels = {0, 1, 0};
  const BatchStatistics statistics = GradientOf(*network, plan, batch.batch()).statistics;
  EXPECT_EQ(statistics.correct, 2);
  EXPECT_NEAR(statistics.loss_sum, 3 * std::log(10.0), 1e-12);
}

// Logits of 0, 1000 and 2000, whose exponentials overflow: the loss of label 1 is 1000, its
// gradient is softmax minus one-hot = (0, -1, 1).
TEST(CpuNetworkLoss, LargeLogitsDoNotOverflow) {
  const ModelPlan plan = PlanOrDie(MakeModel({1, 1, 1}, {Flatten(), DenseTo("fc", 3), Loss()}));
  const auto network = NetworkOrDie(plan, 1);
  std::vector<float> parameters(plan.layout.elements(), 0.0f);
  const int64_t bias = plan.layout.tensors()[1].offset;
  parameters[bias + 1] = 1000;
  parameters[bias + 2] = 2000;
  ASSERT_TRUE(network->SetParameters(parameters).ok());
  const std::vector<float> image = {0.5f};
  const std::vector<int32_t> label = {1};
  const GradientResult result = GradientOf(*network, plan, {image, label});
  EXPECT_EQ(result.statistics.loss_sum, 1000);
  EXPECT_FALSE(result.statistics.not_finite);
  EXPECT_EQ(result.gradient[bias], 0.0f);
  EXPECT_EQ(result.gradient[bias + 1], -1.0f);
  EXPECT_EQ(result.gradient[bias + 2], 1.0f);
}

TEST(CpuNetworkCreation, RefusesBatchesThatCannotBe) {
  const ModelPlan plan = PlanOrDie(MnistCnn());
  EXPECT_EQ(CreateCpuNetwork(plan, -1).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CreateCpuNetwork(plan, int64_t{1} << 62).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(CreateCpuNetwork(plan, 0).ok());
}

TEST(CpuNetworkCreation, SaysHowManyBytesItCannotGet) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator ends the program";
#endif
  // 2^30 pixels, 2^20 images: 4 PiB.
  const ModelPlan plan = PlanOrDie(MakeModel(
      {1, 1 << 15, 1 << 15},
      {Pool({.kernel = {1 << 14, 1 << 14}, .stride = {1 << 14, 1 << 14}}), Flatten(), Loss()}));
  const absl::Status status = CreateCpuNetwork(plan, 1 << 20).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("4503599627370"), absl::string_view::npos) << status;
}

TEST(CpuNetworkParameters, NewParametersReachEverySize) {
  const ModelPlan plan = PlanOrDie(MnistCnn());
  const auto network = RandomNetwork(plan, 4);
  const TestBatch small = RandomBatch(plan, 1, 2);
  const TestBatch large = RandomBatch(plan, 1, 4);
  for (const TestBatch* batch : {&small, &large}) {
    GradientOf(*network, plan, batch->batch());
    LogitsOf(*network, plan, *batch);
  }
  const std::vector<float> others = RandomParameters(plan, 8);
  ASSERT_TRUE(network->SetParameters(others).ok());
  const auto fresh = NetworkOrDie(plan, 4);
  ASSERT_TRUE(fresh->SetParameters(others).ok());
  for (const TestBatch* batch : {&small, &large}) {
    EXPECT_TRUE(SameBits(GradientOf(*network, plan, batch->batch()).gradient,
                         GradientOf(*fresh, plan, batch->batch()).gradient));
    EXPECT_TRUE(SameBits(LogitsOf(*network, plan, *batch), LogitsOf(*fresh, plan, *batch)));
  }
}

TEST(CpuNetworkParameters, AModelWithoutParametersHasAnEmptyGradient) {
  const ModelPlan plan = PlanOrDie(MakeModel({2, 2, 2}, {Relu(), Flatten(), Loss()}));
  const auto network = NetworkOrDie(plan, 2);
  ASSERT_TRUE(network->SetParameters({}).ok());
  EXPECT_EQ(GradientOf(*network, plan, RandomBatch(plan, 1, 2).batch()).statistics.samples, 2);
}

}  // namespace
}  // namespace tributary
