// What follows from a model alone: the shape of every layer's output, the parameters and their
// layout, the arithmetic per image. Computed once, by every role, and the same everywhere.
#ifndef TRIBUTARY_COMMON_MODEL_MODEL_PLAN_H_
#define TRIBUTARY_COMMON_MODEL_MODEL_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "common/model/layout.h"
#include "common/model/model.h"

namespace tributary {

struct LayerPlan {
  Shape input;
  Shape output;
  // Indices into Layout::tensors(); -1: the layer has none.
  int weight = -1;
  int bias = -1;
  // Inputs and outputs of one weight, for the initialisers and the operation count: PyTorch's
  // _calculate_fan_in_and_fan_out. 0 for layers without parameters.
  int64_t fan_in = 0;
  int64_t fan_out = 0;
  // Floating-point operations of the forward pass for one image (a multiply-add is two).
  int64_t forward_flops = 0;
};

struct ModelPlan {
  Model model;
  std::vector<LayerPlan> layers;  // as model.layers
  Layout layout;
  int64_t classes = 0;  // width of the last layer

  int64_t forward_flops() const;
};

// Errors: INVALID_ARGUMENT, the message starts with the place, as "layer[3] (conv2): ", and says
// what was found and what is allowed: a window larger than its input, groups that do not divide the
// channels, Dense on an input that is not flat, no SoftmaxCrossEntropy at the end or one elsewhere,
// names that are missing, doubled or not made of letters, digits, '_', '-' and '.', sizes beyond
// the limits below.
absl::StatusOr<ModelPlan> PlanModel(const Model& model);

// Bounds on what a model file may ask for; far above any real network for images.
inline constexpr int64_t kMaxLayers = 10'000;
inline constexpr int64_t kMaxDimension = int64_t{1} << 20;
inline constexpr int64_t kMaxActivationElements = int64_t{1} << 31;

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_MODEL_MODEL_PLAN_H_
