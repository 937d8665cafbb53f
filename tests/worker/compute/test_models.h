// The two ready models, and shorthand for small ones.
#ifndef TRIBUTARY_TESTS_WORKER_COMPUTE_TEST_MODELS_H_
#define TRIBUTARY_TESTS_WORKER_COMPUTE_TEST_MODELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "common/model/model.h"

namespace tributary {

// models/mnist_cnn.textproto and models/mnist_tf_cnn.textproto.
Model MnistCnn();
Model MnistTfCnn();

// Shorthand for layers: what a case does not name has the job file's default.
struct ConvOptions {
  int64_t out_channels = 0;
  Size2d kernel{1, 1};
  Size2d stride{1, 1};
  Size2d padding{0, 0};
  Size2d dilation{1, 1};
  int64_t groups = 1;
  bool bias = true;
};
struct PoolOptions {
  Pool2dLayer::Kind kind = Pool2dLayer::Kind::kMax;
  Size2d kernel{1, 1};
  Size2d stride{1, 1};
  Size2d padding{0, 0};
  bool count_include_pad = true;
};
Layer Conv(std::string name, const ConvOptions& options);
Layer Pool(const PoolOptions& options);
Layer DenseTo(std::string name, int64_t features, bool bias = true);
Layer Activation(ActivationLayer::Kind kind);
Layer Relu();
Layer Flatten();
Layer Dropout(double probability);
Layer Loss();
Model MakeModel(const Shape& input, std::vector<Layer> layers);

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_WORKER_COMPUTE_TEST_MODELS_H_
