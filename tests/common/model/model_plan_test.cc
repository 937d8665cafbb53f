#include "common/model/model_plan.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/common/model/example_models.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;

std::vector<Shape> Outputs(const ModelPlan& plan) {
  std::vector<Shape> outputs;
  for (const LayerPlan& layer : plan.layers) outputs.push_back(layer.output);
  return outputs;
}

std::vector<std::string> Names(const ModelPlan& plan) {
  std::vector<std::string> names;
  for (const ParameterTensor& tensor : plan.layout.tensors()) names.push_back(tensor.name);
  return names;
}

TEST(ModelPlan, OfPyTorchsExample) {
  const ModelPlan plan = PlanModel(MnistCnn()).value();
  EXPECT_THAT(Outputs(plan),
              ElementsAre(Shape{10, 24, 24}, Shape{10, 12, 12}, Shape{10, 12, 12}, Shape{20, 8, 8},
                          Shape{20, 4, 4}, Shape{20, 4, 4}, Shape{320, 1, 1}, Shape{50, 1, 1},
                          Shape{50, 1, 1}, Shape{10, 1, 1}, Shape{10, 1, 1}));
  EXPECT_THAT(Names(plan), ElementsAre("conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias",
                                       "fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"));
  EXPECT_EQ(plan.classes, 10);
  // 250 + 10, 5000 + 20, 16000 + 50, 500 + 10.
  EXPECT_EQ(plan.layout.parameters(), 21'840);
  // The same, each rounded up to 16.
  EXPECT_EQ(plan.layout.elements(), 256 + 16 + 5008 + 32 + 16000 + 64 + 512 + 16);
  const std::vector<ParameterTensor>& tensors = plan.layout.tensors();
  EXPECT_THAT(tensors[2].shape, ElementsAre(20, 10, 5, 5));
  EXPECT_EQ(tensors[2].offset, 272);
  EXPECT_THAT(tensors[4].shape, ElementsAre(50, 320));
  EXPECT_THAT(tensors[7].shape, ElementsAre(10));
  EXPECT_FALSE(tensors[6].is_bias);
  EXPECT_TRUE(tensors[7].is_bias);
  EXPECT_EQ(plan.layers[3].weight, 2);
  EXPECT_EQ(plan.layers[3].bias, 3);
  EXPECT_EQ(plan.layers[3].fan_in, 250);
  EXPECT_EQ(plan.layers[3].fan_out, 500);
  EXPECT_EQ(plan.layers[7].fan_in, 320);
  EXPECT_EQ(plan.layers[7].fan_out, 50);
  EXPECT_EQ(plan.layers[1].weight, -1);
  EXPECT_EQ(plan.layers[1].bias, -1);
}

TEST(ModelPlan, OperationsOfPyTorchsExample) {
  const ModelPlan plan = PlanModel(MnistCnn()).value();
  std::vector<int64_t> flops;
  for (const LayerPlan& layer : plan.layers) flops.push_back(layer.forward_flops);
  // Outputs times (two for each weight, one for the bias); a pool counts each input once.
  EXPECT_THAT(flops, ElementsAre(5760 * 51, 1440 * 4, 1440, 1280 * 501, 320 * 4, 320, 0, 50 * 641,
                                 50, 10 * 101, 4 * 10));
  EXPECT_EQ(plan.forward_flops(), 976'990);
}

TEST(ModelPlan, OfTensorFlowsTutorial) {
  const ModelPlan plan = PlanModel(MnistTfCnn()).value();
  EXPECT_THAT(Outputs(plan),
              ElementsAre(Shape{32, 26, 26}, Shape{32, 26, 26}, Shape{32, 13, 13},
                          Shape{64, 11, 11}, Shape{64, 11, 11}, Shape{64, 5, 5}, Shape{64, 3, 3},
                          Shape{64, 3, 3}, Shape{576, 1, 1}, Shape{64, 1, 1}, Shape{64, 1, 1},
                          Shape{10, 1, 1}, Shape{10, 1, 1}));
  // 288 + 32, 18432 + 64, 36864 + 64, 36864 + 64, 640 + 10.
  EXPECT_EQ(plan.layout.parameters(), 93'322);
}

TEST(ModelPlan, EveryOptionOfAConvolution) {
  Model model{"m", {4, 10, 12}, {}};
  model.layers.push_back({"conv", Conv2dLayer{.out_channels = 6,
                                              .kernel = {3, 2},
                                              .stride = {2, 3},
                                              .padding = {1, 0},
                                              .dilation = {2, 1},
                                              .groups = 2,
                                              .bias = false}});
  model.layers.push_back(Flatten());
  model.layers.push_back(Loss());
  const ModelPlan plan = PlanModel(model).value();
  // PyTorch: floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1.
  EXPECT_EQ(plan.layers[0].output, (Shape{6, 4, 4}));
  EXPECT_THAT(plan.layout.tensors()[0].shape, ElementsAre(6, 2, 3, 2));
  EXPECT_EQ(plan.layout.tensors().size(), 1);
  EXPECT_EQ(plan.layers[0].bias, -1);
  EXPECT_EQ(plan.layers[0].fan_in, 2 * 6);
  EXPECT_EQ(plan.layers[0].fan_out, 6 * 6);
  EXPECT_EQ(plan.layers[0].forward_flops, 96 * 24);
  EXPECT_EQ(plan.classes, 96);
}

TEST(ModelPlan, APoolRoundsDown) {
  Model model{"m", {3, 7, 8}, {}};
  model.layers.push_back({"", Pool2dLayer{.kernel = {3, 2}, .stride = {2, 3}, .padding = {1, 0}}});
  model.layers.push_back(Flatten());
  model.layers.push_back(Loss());
  // (7 + 2 - 3) / 2 + 1 and (8 - 2) / 3 + 1.
  EXPECT_EQ(PlanModel(model)->layers[0].output, (Shape{3, 4, 3}));
}

TEST(ModelPlan, IsTheSameForTheSameModelAndDiffersForAnother) {
  EXPECT_EQ(PlanModel(MnistCnn())->layout.fingerprint(),
            PlanModel(MnistCnn())->layout.fingerprint());
  Model renamed = MnistCnn();
  renamed.layers[0].name = "first";
  EXPECT_NE(PlanModel(MnistCnn())->layout.fingerprint(), PlanModel(renamed)->layout.fingerprint());
  EXPECT_NE(PlanModel(MnistCnn())->layout.fingerprint(),
            PlanModel(MnistTfCnn())->layout.fingerprint());
}

}  // namespace
}  // namespace tributary
