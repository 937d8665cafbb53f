#include "tests/worker/compute/test_models.h"

#include <utility>

namespace tributary {
namespace {

Layer MaxPool2() {
  return Pool({.kernel = {2, 2}, .stride = {2, 2}});
}

}  // namespace

Layer Conv(std::string name, const ConvOptions& options) {
  return {std::move(name), Conv2dLayer{.out_channels = options.out_channels,
                                       .kernel = options.kernel,
                                       .stride = options.stride,
                                       .padding = options.padding,
                                       .dilation = options.dilation,
                                       .groups = options.groups,
                                       .bias = options.bias}};
}
Layer Pool(const PoolOptions& options) {
  return {"", Pool2dLayer{.kind = options.kind,
                          .kernel = options.kernel,
                          .stride = options.stride,
                          .padding = options.padding,
                          .count_include_pad = options.count_include_pad}};
}
Layer DenseTo(std::string name, int64_t features, bool bias) {
  return {std::move(name), DenseLayer{.out_features = features, .bias = bias}};
}
Layer Activation(ActivationLayer::Kind kind) {
  return {"", ActivationLayer{kind}};
}
Layer Relu() {
  return Activation(ActivationLayer::Kind::kRelu);
}
Layer Flatten() {
  return {"", FlattenLayer{}};
}
Layer Dropout(double probability) {
  return {"", DropoutLayer{probability}};
}
Layer Loss() {
  return {"", SoftmaxCrossEntropyLayer{}};
}

Model MakeModel(const Shape& input, std::vector<Layer> layers) {
  return {.name = "test", .input = input, .layers = std::move(layers)};
}

Model MnistCnn() {
  return MakeModel({1, 28, 28},
                   {Conv("conv1", {.out_channels = 10, .kernel = {5, 5}}), MaxPool2(), Relu(),
                    Conv("conv2", {.out_channels = 20, .kernel = {5, 5}}), MaxPool2(), Relu(),
                    Flatten(), DenseTo("fc1", 50), Relu(), DenseTo("fc2", 10), Loss()});
}

Model MnistTfCnn() {
  return MakeModel({1, 28, 28},
                   {Conv("conv1", {.out_channels = 32, .kernel = {3, 3}}), Relu(), MaxPool2(),
                    Conv("conv2", {.out_channels = 64, .kernel = {3, 3}}), Relu(), MaxPool2(),
                    Conv("conv3", {.out_channels = 64, .kernel = {3, 3}}), Relu(), Flatten(),
                    DenseTo("fc1", 64), Relu(), DenseTo("fc2", 10), Loss()});
}

}  // namespace tributary
