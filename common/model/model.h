// A network as plain values: what the job file's ModelSpec says, with every default filled in. No
// protobuf here, so that the numeric rooms stand alone.
//
// Shapes are [C, H, W] per image; after Flatten or Dense they are [features, 1, 1].
#ifndef TRIBUTARY_COMMON_MODEL_MODEL_H_
#define TRIBUTARY_COMMON_MODEL_MODEL_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tributary {

struct Shape {
  int64_t channels = 0;
  int64_t height = 1;
  int64_t width = 1;

  int64_t elements() const { return channels * height * width; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

// Height and width of a window, a stride, ...
struct Size2d {
  int64_t height = 1;
  int64_t width = 1;
  friend bool operator==(const Size2d&, const Size2d&) = default;
};

enum class Initializer { kPytorchDefault, kGlorotUniform, kHeUniform, kZeros };

struct Conv2dLayer {
  int64_t out_channels = 0;
  Size2d kernel;
  Size2d stride;
  Size2d padding{0, 0};
  Size2d dilation;
  int64_t groups = 1;
  bool bias = true;
  Initializer initializer = Initializer::kPytorchDefault;
};

struct Pool2dLayer {
  enum class Kind { kMax, kAverage };
  Kind kind = Kind::kMax;
  Size2d kernel;
  Size2d stride;
  Size2d padding{0, 0};
  bool count_include_pad = true;  // kAverage alone
};

struct DenseLayer {
  int64_t out_features = 0;
  bool bias = true;
  Initializer initializer = Initializer::kPytorchDefault;
};

struct ActivationLayer {
  enum class Kind { kRelu, kTanh, kSigmoid, kGelu };
  Kind kind = Kind::kRelu;
};

struct FlattenLayer {};

struct DropoutLayer {
  double probability = 0;
};

struct SoftmaxCrossEntropyLayer {};

struct Layer {
  std::string name;  // may be empty where there are no parameters
  std::variant<Conv2dLayer, Pool2dLayer, DenseLayer, ActivationLayer, FlattenLayer, DropoutLayer,
               SoftmaxCrossEntropyLayer>
      kind;
};

struct Model {
  std::string name;
  Shape input;
  std::vector<Layer> layers;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_MODEL_MODEL_H_
