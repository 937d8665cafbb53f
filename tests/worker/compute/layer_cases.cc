#include "tests/worker/compute/layer_cases.h"

#include <utility>

#include "tests/worker/compute/test_models.h"

namespace tributary {
namespace {

using PoolKind = Pool2dLayer::Kind;
using ActivationKind = ActivationLayer::Kind;

LayerCase Around(std::string name, const Shape& input, std::vector<Layer> middle) {
  std::vector<Layer> layers = {Conv("pre", {.out_channels = input.channels})};
  for (Layer& layer : middle) layers.push_back(std::move(layer));
  layers.insert(layers.end(), {Flatten(), DenseTo("post", 3), Loss()});
  return {std::move(name), MakeModel(input, std::move(layers))};
}

Layer MaxPool(int64_t kernel) {
  return Pool({.kernel = {kernel, kernel}, .stride = {kernel, kernel}});
}

std::vector<LayerCase> ConvCases() {
  return {
      Around("conv", {2, 7, 6}, {Conv("x", {.out_channels = 3, .kernel = {3, 3}})}),
      Around("conv_stride", {3, 9, 8},
             {Conv("x", {.out_channels = 5, .kernel = {3, 2}, .stride = {2, 3}})}),
      Around("conv_padding", {2, 5, 6},
             {Conv("x", {.out_channels = 4, .kernel = {3, 3}, .padding = {2, 1}})}),
      Around("conv_dilation", {2, 9, 8},
             {Conv("x", {.out_channels = 3, .kernel = {3, 3}, .dilation = {2, 3}})}),
      Around("conv_groups", {4, 6, 6},
             {Conv("x", {.out_channels = 6, .kernel = {3, 3}, .groups = 2})}),
      Around("conv_depthwise", {4, 6, 5},
             {Conv("x", {.out_channels = 8, .kernel = {3, 3}, .padding = {1, 1}, .groups = 4})}),
      Around("conv_everything", {4, 11, 10},
             {Conv("x", {.out_channels = 6,
                         .kernel = {3, 2},
                         .stride = {2, 1},
                         .padding = {1, 2},
                         .dilation = {1, 2},
                         .groups = 2,
                         .bias = false})}),
      Around("conv_no_bias", {2, 6, 6},
             {Conv("x", {.out_channels = 3, .kernel = {3, 3}, .bias = false})}),
      Around("conv_wide", {17, 6, 6},
             {Conv("x", {.out_channels = 33, .kernel = {3, 3}, .padding = {1, 1}})}),
  };
}

std::vector<LayerCase> ConvPoolCases() {
  return {
      Around("conv_max_pool", {3, 9, 9},
             {Conv("x", {.out_channels = 5, .kernel = {4, 4}}), MaxPool(2)}),
      Around("conv_relu_max_pool", {3, 9, 9},
             {Conv("x", {.out_channels = 18, .kernel = {3, 3}, .padding = {1, 1}}), Relu(),
              MaxPool(3)}),
      Around("conv_max_pool_relu", {17, 8, 8},
             {Conv("x", {.out_channels = 4,
                         .kernel = {3, 3},
                         .stride = {1, 2},
                         .padding = {0, 1},
                         .bias = false}),
              MaxPool(2), Relu()}),
      Around("conv_max_pool_overlap", {2, 12, 12},
             {Conv("x", {.out_channels = 5, .kernel = {5, 5}, .padding = {2, 2}}),
              Pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}}), Relu()}),
      Around("conv_dilation_max_pool", {2, 12, 12},
             {Conv("x", {.out_channels = 5, .kernel = {3, 3}, .dilation = {2, 2}}), MaxPool(2),
              Relu()}),
      Around("conv_groups_max_pool", {4, 8, 8},
             {Conv("x", {.out_channels = 6, .kernel = {3, 3}, .groups = 2}), MaxPool(2), Relu()}),
  };
}

std::vector<LayerCase> PoolCases() {
  const PoolOptions padded = {.kind = PoolKind::kAverage,
                              .kernel = {3, 3},
                              .stride = {2, 2},
                              .padding = {1, 1},
                              .count_include_pad = true};
  PoolOptions without_padding = padded;
  without_padding.count_include_pad = false;
  return {
      Around("max_pool", {3, 7, 6}, {MaxPool(2)}),
      Around("max_pool_overlap", {3, 8, 7},
             {Pool({.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1}})}),
      Around("avg_pool", {3, 7, 6},
             {Pool({.kind = PoolKind::kAverage, .kernel = {2, 2}, .stride = {2, 2}})}),
      Around("avg_pool_with_padding", {3, 7, 6}, {Pool(padded)}),
      Around("avg_pool_without_padding", {3, 7, 6}, {Pool(without_padding)}),
  };
}

std::vector<LayerCase> FlatAndElementwiseCases() {
  return {
      Around("relu", {3, 4, 5}, {Relu()}),
      Around("tanh", {3, 4, 5}, {Activation(ActivationKind::kTanh)}),
      Around("sigmoid", {3, 4, 5}, {Activation(ActivationKind::kSigmoid)}),
      Around("gelu", {3, 4, 5}, {Activation(ActivationKind::kGelu)}),
      Around("relu_of_tanh", {3, 4, 5}, {Activation(ActivationKind::kTanh), Relu()}),
      Around("flat_dense", {5, 1, 1},
             {Flatten(), DenseTo("x", 7), Activation(ActivationKind::kTanh)}),
      Around("dense_no_bias", {2, 3, 3},
             {Flatten(), DenseTo("x", 7, false), Activation(ActivationKind::kGelu)}),
  };
}

}  // namespace

std::vector<LayerCase> LayerCases() {
  std::vector<LayerCase> cases = ConvCases();
  for (const auto& more : {ConvPoolCases(), PoolCases(), FlatAndElementwiseCases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  return cases;
}

}  // namespace tributary
