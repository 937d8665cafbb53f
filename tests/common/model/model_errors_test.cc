// What a model cannot be: each gives one line that starts with the place and says what was found
// and what is allowed.
#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "common/model/model_plan.h"
#include "gtest/gtest.h"
#include "tests/common/model/example_models.h"

namespace tributary {
namespace {

struct BadModel {
  std::string what;
  std::function<void(Model&)> damage;  // of PyTorch's example
  std::string message;

  friend void PrintTo(const BadModel& model, std::ostream* out) { *out << model.what; }
};

Conv2dLayer& ConvOf(Model& model, size_t layer) {
  return std::get<Conv2dLayer>(model.layers[layer].kind);
}
Pool2dLayer& PoolOf(Model& model, size_t layer) {
  return std::get<Pool2dLayer>(model.layers[layer].kind);
}
DenseLayer& DenseOf(Model& model, size_t layer) {
  return std::get<DenseLayer>(model.layers[layer].kind);
}
void Insert(Model& model, size_t at, Layer layer) {
  model.layers.insert(model.layers.begin() + static_cast<std::ptrdiff_t>(at), std::move(layer));
}

class ModelErrors : public ::testing::TestWithParam<BadModel> {};

TEST_P(ModelErrors, GiveOneLine) {
  Model model = MnistCnn();
  GetParam().damage(model);
  const auto plan = PlanModel(model);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(plan.status().message(), GetParam().message);
}

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

INSTANTIATE_TEST_SUITE_P(
    Input, ModelErrors,
    ::testing::ValuesIn(std::vector<BadModel>{
        {"NoChannels", [](Model& m) { m.input.channels = 0; },
         "input.channels: found 0, allowed 1 to 1048576"},
        {"NegativeHeight", [](Model& m) { m.input.height = -1; },
         "input.height: found -1, allowed 1 to 1048576"},
        {"HugeWidth", [](Model& m) { m.input.width = kHuge; },
         "input.width: found 9223372036854775807, allowed 1 to 1048576"},
        {"HugeArea",
         [](Model& m) {
           m.input = {3, 1 << 20, 1 << 20};
         },
         "found an array of [3, 1048576, 1048576] per image, allowed at most 2147483648 elements"},
        {"NoLayers", [](Model& m) { m.layers.clear(); },
         "layer: the number of layers: found 0, allowed 1 to 10000"},
        {"TooManyLayers", [](Model& m) { m.layers.insert(m.layers.begin(), 10'000, Relu()); },
         "layer: the number of layers: found 10011, allowed 1 to 10000"},
    }),
    [](const auto& test) { return test.param.what; });

INSTANTIATE_TEST_SUITE_P(
    Loss, ModelErrors,
    ::testing::ValuesIn(std::vector<BadModel>{
        {"Missing", [](Model& m) { m.layers.pop_back(); },
         "layer[9] (fc2): found another kind of layer, the last one must be "
         "softmax_cross_entropy"},
        {"InTheMiddle", [](Model& m) { Insert(m, 7, Loss()); },
         "layer[7]: softmax_cross_entropy: allowed as the last layer alone"},
        {"OfAnImage",
         [](Model& m) {
           m.layers = {Conv("c", 10, 5), Loss()};
         },
         "layer[1]: softmax_cross_entropy: found an input of [10, 24, 24], allowed a flat one"},
        {"OfOneClass", [](Model& m) { DenseOf(m, 9).out_features = 1; },
         "layer[10]: softmax_cross_entropy: classes: found 1, allowed 2 to 1048576"},
    }),
    [](const auto& test) { return test.param.what; });

INSTANTIATE_TEST_SUITE_P(
    Names, ModelErrors,
    ::testing::ValuesIn(std::vector<BadModel>{
        {"Missing", [](Model& m) { m.layers[3].name = ""; },
         "layer[3]: name: found none, a layer with parameters needs one"},
        {"Doubled", [](Model& m) { m.layers[3].name = "conv1"; },
         "layer[3] (conv1): name: found \"conv1\", which layer[0] has, allowed another"},
        {"DoubledWithoutParameters", [](Model& m) { m.layers[2].name = "conv1"; },
         "layer[2] (conv1): name: found \"conv1\", which layer[0] has, allowed another"},
        {"WithASpace", [](Model& m) { m.layers[0].name = "conv 1"; },
         "layer[0] (conv 1): name: found \"conv 1\", allowed letters, digits, '_', '-' and '.'"},
        {"WithAQuote", [](Model& m) { m.layers[2].name = "a\""; },
         "layer[2] (a\"): name: found \"a\"\", allowed letters, digits, '_', '-' and '.'"},
        {"WithAnUmlaut", [](Model& m) { m.layers[0].name = "\xc3\xa4"; },
         "layer[0] (\xc3\xa4): name: found \"\xc3\xa4\", allowed letters, digits, '_', '-' and "
         "'.'"},
    }),
    [](const auto& test) { return test.param.what; });

INSTANTIATE_TEST_SUITE_P(
    Convolution, ModelErrors,
    ::testing::ValuesIn(std::vector<BadModel>{
        {"NoOutput", [](Model& m) { ConvOf(m, 0).out_channels = 0; },
         "layer[0] (conv1): out_channels: found 0, allowed 1 to 1048576"},
        {"HugeOutput", [](Model& m) { ConvOf(m, 0).out_channels = kHuge; },
         "layer[0] (conv1): out_channels: found 9223372036854775807, allowed 1 to 1048576"},
        {"NoKernel", [](Model& m) { ConvOf(m, 0).kernel.height = 0; },
         "layer[0] (conv1): kernel: found 0, allowed 1 to 1048576"},
        {"NoStride", [](Model& m) { ConvOf(m, 0).stride.width = 0; },
         "layer[0] (conv1): stride: found 0, allowed 1 to 1048576"},
        {"NegativePadding", [](Model& m) { ConvOf(m, 0).padding.width = -1; },
         "layer[0] (conv1): padding: found -1, allowed 0 to 1048576"},
        {"NoDilation", [](Model& m) { ConvOf(m, 0).dilation.height = 0; },
         "layer[0] (conv1): dilation: found 0, allowed 1 to 1048576"},
        {"NoGroups", [](Model& m) { ConvOf(m, 0).groups = 0; },
         "layer[0] (conv1): groups: found 0, allowed 1 to 1048576"},
        {"GroupsDoNotDivideTheInput", [](Model& m) { ConvOf(m, 3).groups = 4; },
         "layer[3] (conv2): groups: found 4, must divide the input channels (10) and out_channels "
         "(20)"},
        {"GroupsDoNotDivideTheOutput",
         [](Model& m) {
           ConvOf(m, 3).groups = 5;
           ConvOf(m, 3).out_channels = 21;
         },
         "layer[3] (conv2): groups: found 5, must divide the input channels (10) and out_channels "
         "(21)"},
        {"WindowTooHigh", [](Model& m) { ConvOf(m, 3).kernel.height = 13; },
         "layer[3] (conv2): kernel: found a window of 13 along the height, allowed at most 12 (the "
         "padded input)"},
        {"DilatedWindowTooWide", [](Model& m) { ConvOf(m, 3).dilation.width = 3; },
         "layer[3] (conv2): kernel: found a window of 13 along the width, allowed at most 12 (the "
         "padded input)"},
        {"WeightTooLarge",
         [](Model& m) {
           m.input = {1 << 10, 1 << 10, 1 << 10};
           ConvOf(m, 0).out_channels = 1 << 20;
           ConvOf(m, 0).kernel = {1 << 10, 1 << 10};
         },
         "layer[0] (conv1): found a weight of 1125899906842624 elements, allowed at most "
         "1099511627776"},
        {"OutputTooLarge",
         [](Model& m) {
           ConvOf(m, 0).out_channels = 1 << 20;
           ConvOf(m, 0).padding = {1 << 10, 1 << 10};
         },
         "layer[0] (conv1): found an array of [1048576, 2072, 2072] per image, allowed at most "
         "2147483648 elements"},
        {"LargestOutputDoesNotOverflow",
         [](Model& m) {
           m.input = {1, 1 << 20, 1 << 11};
           ConvOf(m, 0).out_channels = 1 << 20;
           ConvOf(m, 0).kernel = {1, 1};
           ConvOf(m, 0).padding = {1 << 20, 1 << 20};
         },
         "layer[0] (conv1): found an array of [1048576, 3145728, 2099200] per image, allowed at "
         "most 2147483648 elements"},
    }),
    [](const auto& test) { return test.param.what; });

INSTANTIATE_TEST_SUITE_P(
    OtherLayers, ModelErrors,
    ::testing::ValuesIn(std::vector<BadModel>{
        {"PoolWindowTooLarge",
         [](Model& m) {
           PoolOf(m, 4).kernel = {9, 2};
         },
         "layer[4]: kernel: found a window of 9 along the height, allowed at most 8 (the padded "
         "input)"},
        {"PoolPaddingTooLarge",
         [](Model& m) {
           PoolOf(m, 4).padding = {0, 2};
         },
         "layer[4]: padding: found 0x2, allowed at most half the kernel (2x2)"},
        {"PoolWithoutStride",
         [](Model& m) {
           PoolOf(m, 4).stride = {0, 0};
         },
         "layer[4]: stride: found 0, allowed 1 to 1048576"},
        {"DenseOfAnImage", [](Model& m) { m.layers.erase(m.layers.begin() + 6); },
         "layer[6] (fc1): dense: found an input of [20, 4, 4], allowed a flat one; put a flatten "
         "layer before it"},
        {"DenseWithoutOutput", [](Model& m) { DenseOf(m, 7).out_features = 0; },
         "layer[7] (fc1): out_features: found 0, allowed 1 to 2147483648"},
        {"DenseWeightTooLarge",
         [](Model& m) {
           DenseOf(m, 7).out_features = int64_t{1} << 31;
           DenseOf(m, 9).out_features = int64_t{1} << 31;
         },
         "layer[9] (fc2): found a weight of 4611686018427387904 elements, allowed at most "
         "1099511627776"},
        {"ConvolutionOfADenseOutput", [](Model& m) { Insert(m, 8, Conv("conv3", 5, 2)); },
         "layer[8] (conv3): kernel: found a window of 2 along the height, allowed at most 1 (the "
         "padded input)"},
        {"DropoutOfEverything",
         [](Model& m) {
           Insert(m, 8, {"", DropoutLayer{1.0}});
         },
         "layer[8]: probability: found 1, allowed 0 to below 1"},
        {"NegativeDropout",
         [](Model& m) {
           Insert(m, 8, {"", DropoutLayer{-0.5}});
         },
         "layer[8]: probability: found -0.5, allowed 0 to below 1"},
        {"DropoutOfNoNumber",
         [](Model& m) {
           Insert(m, 8, {"", DropoutLayer{std::nan("")}});
         },
         "layer[8]: probability: found nan, allowed 0 to below 1"},
        {"ModelTooLarge",
         [](Model& m) {
           m.input = {1 << 20, 1, 1};
           m.layers = {Dense("a", 1 << 20), Dense("b", 2), Loss()};
         },
         "the model has more than 1099511627776 parameters"},
    }),
    [](const auto& test) { return test.param.what; });

}  // namespace
}  // namespace tributary
