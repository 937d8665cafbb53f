#include "cli/evaluation.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;

// One dense layer on two pixels: logit k is weight k's product with the image, and bias k.
Job TwoPixelJob(int64_t batch) {
  Model model;
  model.input = {1, 1, 2};
  model.layers.push_back({"", FlattenLayer{}});
  model.layers.push_back({"fc", DenseLayer{.out_features = 2}});
  model.layers.push_back({"", SoftmaxCrossEntropyLayer{}});
  Job job;
  job.model = *PlanModel(model);
  job.data.classes = 2;
  job.data.mean = {0};
  job.data.stddev = {1};
  job.evaluation.batch = batch;
  return job;
}

LoadedSafetensors TwoPixelModel() {
  LoadedSafetensors model;
  model.arrays["fc.weight"] = {{2, 2}, {1, 0, 0, 1}};
  model.arrays["fc.bias"] = {{2}, {0, 0}};
  return model;
}

// Images whose brighter pixel is the first, the second, the second, neither and the first.
LabelledImages FiveImages() {
  LabelledImages images;
  images.shape = {1, 1, 2};
  images.pixels = {255, 0, 0, 255, 0, 255, 51, 51, 255, 0};
  images.labels = {0, 1, 0, 0, 1};
  return images;
}

TEST(FlattenModel, PutsEveryArrayAtItsOffset) {
  const Job job = TwoPixelJob(1);
  LoadedSafetensors model = TwoPixelModel();
  model.arrays["fc.weight"].values = {1, 2, 3, 4};
  model.arrays["fc.bias"].values = {5, 6};
  const absl::StatusOr<std::vector<float>> flat = FlattenModel(model, job.model.layout, "m");
  ASSERT_TRUE(flat.ok()) << flat.status();
  // Each tensor starts at a multiple of 16.
  std::vector<float> expected(32, 0.0F);
  std::vector<float> weight = {1, 2, 3, 4};
  std::copy(weight.begin(), weight.end(), expected.begin());
  expected[16] = 5;
  expected[17] = 6;
  EXPECT_EQ(*flat, expected);
}

TEST(FlattenModel, SaysWhatDoesNotFit) {
  const Layout layout = TwoPixelJob(1).model.layout;
  const auto message = [&layout](const LoadedSafetensors& model) {
    return std::string(FlattenModel(model, layout, "m").status().message());
  };
  LoadedSafetensors model = TwoPixelModel();
  model.arrays.erase("fc.bias");
  EXPECT_EQ(message(model), "m: fc.bias: found no such array, allowed shape [2]");

  model = TwoPixelModel();
  model.arrays["fc.weight"].shape = {4};
  EXPECT_EQ(message(model), "m: fc.weight: found shape [4], allowed shape [2,2]");

  model = TwoPixelModel();
  model.arrays["fc2.bias"] = {{1}, {0}};
  EXPECT_EQ(message(model),
            "m: fc2.bias: found an array of shape [1], allowed the job's parameters alone");
}

TEST(EvaluateModel, CountsEveryImageOnceWhateverTheUnitsAndThreads) {
  // Losses: -log softmax of (1, 0) is log(1 + 1/e) for the larger and log(1 + e) for the smaller;
  // of equal ones log 2. Right are images 0, 1 and 3 (the first of equal logits).
  const double expected_loss =
      2 * std::log1p(std::exp(-1)) + 2 * std::log1p(std::exp(1)) + std::log(2);
  for (const int64_t batch : {1, 2, 3, 5, 500}) {
    for (const int threads : {1, 2, 8}) {
      const Job job = TwoPixelJob(batch);
      const std::vector<float> flat = *FlattenModel(TwoPixelModel(), job.model.layout, "m");
      std::vector<float> logits;
      const absl::StatusOr<BatchStatistics> statistics =
          EvaluateModel(job, flat, FiveImages(), threads, &logits);
      ASSERT_TRUE(statistics.ok()) << statistics.status();
      EXPECT_EQ(statistics->samples, 5);
      EXPECT_EQ(statistics->correct, 3);
      EXPECT_NEAR(statistics->loss_sum, expected_loss, 1e-6);
      EXPECT_THAT(logits, ElementsAre(1, 0, 0, 1, 0, 1, 51 / 255.0F, 51 / 255.0F, 1, 0));
    }
  }
}

}  // namespace
}  // namespace tributary
