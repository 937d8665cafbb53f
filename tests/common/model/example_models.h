// The two ready models, as plain values.
#ifndef TRIBUTARY_TESTS_COMMON_MODEL_EXAMPLE_MODELS_H_
#define TRIBUTARY_TESTS_COMMON_MODEL_EXAMPLE_MODELS_H_

#include <string>
#include <utility>

#include "common/model/model.h"

namespace tributary {

inline Layer Conv(std::string name, int64_t out_channels, int64_t kernel,
                  Initializer initializer = Initializer::kPytorchDefault) {
  Conv2dLayer conv;
  conv.out_channels = out_channels;
  conv.kernel = {kernel, kernel};
  conv.initializer = initializer;
  return {std::move(name), conv};
}
inline Layer Dense(std::string name, int64_t out_features,
                   Initializer initializer = Initializer::kPytorchDefault) {
  return {std::move(name), DenseLayer{.out_features = out_features, .initializer = initializer}};
}
inline Layer MaxPool2() {
  return {"", Pool2dLayer{.kernel = {2, 2}, .stride = {2, 2}}};
}
inline Layer Relu() {
  return {"", ActivationLayer{ActivationLayer::Kind::kRelu}};
}
inline Layer Flatten() {
  return {"", FlattenLayer{}};
}
inline Layer Loss() {
  return {"", SoftmaxCrossEntropyLayer{}};
}

// models/mnist_cnn.textproto
inline Model MnistCnn() {
  return {"mnist_cnn",
          {1, 28, 28},
          {Conv("conv1", 10, 5), MaxPool2(), Relu(), Conv("conv2", 20, 5), MaxPool2(), Relu(),
           Flatten(), Dense("fc1", 50), Relu(), Dense("fc2", 10), Loss()}};
}

// models/mnist_tf_cnn.textproto
inline Model MnistTfCnn() {
  constexpr auto kGlorot = Initializer::kGlorotUniform;
  return {"mnist_tf_cnn",
          {1, 28, 28},
          {Conv("conv1", 32, 3, kGlorot), Relu(), MaxPool2(), Conv("conv2", 64, 3, kGlorot), Relu(),
           MaxPool2(), Conv("conv3", 64, 3, kGlorot), Relu(), Flatten(), Dense("fc1", 64, kGlorot),
           Relu(), Dense("fc2", 10, kGlorot), Loss()}};
}

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_COMMON_MODEL_EXAMPLE_MODELS_H_
