#include "common/model/model_plan.h"

#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"

namespace tributary {
namespace {

std::string Describe(const Shape& shape) {
  return absl::StrCat("[", shape.channels, ", ", shape.height, ", ", shape.width, "]");
}

bool IsFlat(const Shape& shape) {
  return shape.height == 1 && shape.width == 1;
}

bool IsNameValid(absl::string_view name) {
  if (name.empty()) return false;
  for (const char c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '-' && c != '.') {
      return false;
    }
  }
  return true;
}

absl::Status CheckBetween(absl::string_view field, int64_t found, int64_t least, int64_t most) {
  if (found >= least && found <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": found ", found, ", allowed ", least, " to ", most));
}

absl::Status CheckBetween(absl::string_view field, const Size2d& found, int64_t least,
                          int64_t most) {
  RETURN_IF_ERROR(CheckBetween(field, found.height, least, most));
  return CheckBetween(field, found.width, least, most);
}

// Output length of a sliding window along one axis; the window must fit.
absl::StatusOr<int64_t> WindowOutput(absl::string_view axis, int64_t input, int64_t kernel,
                                     int64_t stride, int64_t padding, int64_t dilation) {
  const int64_t window = dilation * (kernel - 1) + 1;
  const int64_t padded = input + 2 * padding;
  if (window > padded) {
    return absl::InvalidArgumentError(absl::StrCat("kernel: found a window of ", window,
                                                   " along the ", axis, ", allowed at most ",
                                                   padded, " (the padded input)"));
  }
  return (padded - window) / stride + 1;
}

absl::StatusOr<Shape> WindowShape(const Shape& input, int64_t channels, const Size2d& kernel,
                                  const Size2d& stride, const Size2d& padding,
                                  const Size2d& dilation) {
  RETURN_IF_ERROR(CheckBetween("kernel", kernel, 1, kMaxDimension));
  RETURN_IF_ERROR(CheckBetween("stride", stride, 1, kMaxDimension));
  RETURN_IF_ERROR(CheckBetween("padding", padding, 0, kMaxDimension));
  RETURN_IF_ERROR(CheckBetween("dilation", dilation, 1, kMaxDimension));
  ASSIGN_OR_RETURN(const int64_t height,
                   WindowOutput("height", input.height, kernel.height, stride.height,
                                padding.height, dilation.height));
  ASSIGN_OR_RETURN(const int64_t width, WindowOutput("width", input.width, kernel.width,
                                                     stride.width, padding.width, dilation.width));
  return Shape{channels, height, width};
}

// Plans one layer after the other; `tensors_` grows on the way.
class Planner {
 public:
  explicit Planner(const Model& model) : model_(model) {}

  absl::StatusOr<ModelPlan> Run() {
    RETURN_IF_ERROR(CheckInput());
    ModelPlan plan;
    plan.model = model_;
    Shape shape = model_.input;
    for (size_t i = 0; i < model_.layers.size(); ++i) {
      LayerPlan layer;
      layer.input = shape;
      const absl::Status status = PlanLayer(i, layer);
      if (!status.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(Place(i), ": ", status.message()));
      }
      shape = layer.output;
      plan.layers.push_back(layer);
    }
    plan.classes = shape.channels;
    ASSIGN_OR_RETURN(plan.layout, Layout::Create(std::move(tensors_)));
    return plan;
  }

 private:
  std::string Place(size_t i) const {
    const std::string& name = model_.layers[i].name;
    return absl::StrCat("layer[", i, "]", name.empty() ? "" : absl::StrCat(" (", name, ")"));
  }

  absl::Status CheckInput() const {
    RETURN_IF_ERROR(CheckBetween("input.channels", model_.input.channels, 1, kMaxDimension));
    RETURN_IF_ERROR(CheckBetween("input.height", model_.input.height, 1, kMaxDimension));
    RETURN_IF_ERROR(CheckBetween("input.width", model_.input.width, 1, kMaxDimension));
    RETURN_IF_ERROR(CheckElements(model_.input));
    const auto layers = static_cast<int64_t>(model_.layers.size());
    RETURN_IF_ERROR(CheckBetween("layer: the number of layers", layers, 1, kMaxLayers));
    if (!std::holds_alternative<SoftmaxCrossEntropyLayer>(model_.layers.back().kind)) {
      return absl::InvalidArgumentError(
          absl::StrCat(Place(model_.layers.size() - 1),
                       ": found another kind of layer, the last one must be "
                       "softmax_cross_entropy"));
    }
    return absl::OkStatus();
  }

  static absl::Status CheckElements(const Shape& shape) {
    // Three dimensions of at most 2^20 each do not overflow 63 bits.
    if (shape.elements() <= kMaxActivationElements) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("found an array of ", Describe(shape),
                                                   " per image, allowed at most ",
                                                   kMaxActivationElements, " elements"));
  }

  absl::Status PlanLayer(size_t index, LayerPlan& plan) {
    const Layer& layer = model_.layers[index];
    if (!layer.name.empty() && !IsNameValid(layer.name)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "name: found \"", layer.name, "\", allowed letters, digits, '_', '-' and '.'"));
    }
    if (!layer.name.empty()) {
      const auto [holder, is_new] = layer_of_name_.emplace(layer.name, index);
      if (!is_new) {
        return absl::InvalidArgumentError(absl::StrCat("name: found \"", layer.name,
                                                       "\", which layer[", holder->second,
                                                       "] has, allowed another"));
      }
    }
    is_last_ = index + 1 == model_.layers.size();
    RETURN_IF_ERROR(
        std::visit([&](const auto& kind) { return Plan(kind, layer, plan); }, layer.kind));
    RETURN_IF_ERROR(CheckBetween("output width", plan.output.width, 1, kMaxDimension));
    RETURN_IF_ERROR(CheckBetween("output height", plan.output.height, 1, kMaxDimension));
    return CheckElements(plan.output);
  }

  absl::Status Plan(const Conv2dLayer& conv, const Layer& layer, LayerPlan& plan) {
    RETURN_IF_ERROR(CheckBetween("out_channels", conv.out_channels, 1, kMaxDimension));
    RETURN_IF_ERROR(CheckBetween("groups", conv.groups, 1, kMaxDimension));
    if (plan.input.channels % conv.groups != 0 || conv.out_channels % conv.groups != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("groups: found ", conv.groups, ", must divide the input channels (",
                       plan.input.channels, ") and out_channels (", conv.out_channels, ")"));
    }
    ASSIGN_OR_RETURN(plan.output, WindowShape(plan.input, conv.out_channels, conv.kernel,
                                              conv.stride, conv.padding, conv.dilation));
    const int64_t channels = plan.input.channels / conv.groups;
    const int64_t window = conv.kernel.height * conv.kernel.width;
    // Each factor is at most 2^20 and the window fits a padded input: no overflow up to here.
    if (window > kMaxActivationElements || channels > kMaxLayoutElements / window) {
      return absl::InvalidArgumentError("kernel: the weight is too large");
    }
    plan.fan_in = channels * window;
    plan.fan_out = conv.out_channels * window;
    RETURN_IF_ERROR(AddTensors(layer,
                               {conv.out_channels, channels, conv.kernel.height, conv.kernel.width},
                               conv.bias ? conv.out_channels : 0, plan));
    return CountFlops(plan, plan.fan_in, conv.bias);
  }

  absl::Status Plan(const DenseLayer& dense, const Layer& layer, LayerPlan& plan) {
    if (!IsFlat(plan.input)) {
      return absl::InvalidArgumentError(
          absl::StrCat("dense: found an input of ", Describe(plan.input),
                       ", allowed a flat one; put a flatten layer before it"));
    }
    RETURN_IF_ERROR(CheckBetween("out_features", dense.out_features, 1, kMaxActivationElements));
    plan.output = {dense.out_features, 1, 1};
    plan.fan_in = plan.input.channels;
    plan.fan_out = dense.out_features;
    RETURN_IF_ERROR(AddTensors(layer, {dense.out_features, plan.input.channels},
                               dense.bias ? dense.out_features : 0, plan));
    return CountFlops(plan, plan.fan_in, dense.bias);
  }

  absl::Status Plan(const Pool2dLayer& pool, const Layer&, LayerPlan& plan) {
    ASSIGN_OR_RETURN(plan.output, WindowShape(plan.input, plan.input.channels, pool.kernel,
                                              pool.stride, pool.padding, Size2d{1, 1}));
    if (pool.padding.height > pool.kernel.height / 2 ||
        pool.padding.width > pool.kernel.width / 2) {
      return absl::InvalidArgumentError(absl::StrCat(
          "padding: found ", pool.padding.height, "x", pool.padding.width,
          ", allowed at most half the kernel (", pool.kernel.height, "x", pool.kernel.width, ")"));
    }
    return CountFlops(plan, (pool.kernel.height * pool.kernel.width + 1) / 2, false);
  }

  absl::Status Plan(const ActivationLayer&, const Layer&, LayerPlan& plan) {
    plan.output = plan.input;
    plan.forward_flops = plan.output.elements();
    return absl::OkStatus();
  }

  absl::Status Plan(const FlattenLayer&, const Layer&, LayerPlan& plan) {
    plan.output = {plan.input.elements(), 1, 1};
    return absl::OkStatus();
  }

  absl::Status Plan(const DropoutLayer& dropout, const Layer&, LayerPlan& plan) {
    // Written so that NaN is refused.
    if (!(dropout.probability >= 0 && dropout.probability < 1)) {
      return absl::InvalidArgumentError(
          absl::StrCat("probability: found ", dropout.probability, ", allowed 0 to below 1"));
    }
    plan.output = plan.input;
    plan.forward_flops = plan.output.elements();
    return absl::OkStatus();
  }

  absl::Status Plan(const SoftmaxCrossEntropyLayer&, const Layer&, LayerPlan& plan) {
    if (!is_last_) {
      return absl::InvalidArgumentError("softmax_cross_entropy: allowed as the last layer alone");
    }
    if (!IsFlat(plan.input)) {
      return absl::InvalidArgumentError(absl::StrCat("softmax_cross_entropy: found an input of ",
                                                     Describe(plan.input), ", allowed a flat one"));
    }
    RETURN_IF_ERROR(
        CheckBetween("softmax_cross_entropy: classes", plan.input.channels, 2, kMaxDimension));
    plan.output = plan.input;
    plan.forward_flops = 4 * plan.output.elements();
    return absl::OkStatus();
  }

  absl::Status AddTensors(const Layer& layer, std::vector<int64_t> weight_shape, int64_t biases,
                          LayerPlan& plan) {
    if (layer.name.empty()) {
      return absl::InvalidArgumentError("name: found none, a layer with parameters needs one");
    }
    // Dense: at most 2^31 by 2^31; a convolution's input side has been bounded by 2^40. No
    // overflow.
    int64_t elements = 1;
    for (const int64_t dimension : weight_shape) elements *= dimension;
    if (elements > kMaxLayoutElements) {
      return absl::InvalidArgumentError(absl::StrCat(
          "found a weight of ", elements, " elements, allowed at most ", kMaxLayoutElements));
    }
    plan.weight = static_cast<int>(tensors_.size());
    tensors_.push_back({.name = layer.name + ".weight", .shape = std::move(weight_shape)});
    if (biases > 0) {
      plan.bias = static_cast<int>(tensors_.size());
      tensors_.push_back({.name = layer.name + ".bias", .shape = {biases}, .is_bias = true});
    }
    return absl::OkStatus();
  }

  // Multiply-adds per output element, and one addition for a bias.
  static absl::Status CountFlops(LayerPlan& plan, int64_t multiply_adds, bool bias) {
    RETURN_IF_ERROR(CheckElements(plan.output));
    const int64_t per_element = 2 * multiply_adds + (bias ? 1 : 0);
    if (per_element > (int64_t{1} << 62) / plan.output.elements()) {
      return absl::InvalidArgumentError("the layer needs more than 2^62 operations per image");
    }
    plan.forward_flops = per_element * plan.output.elements();
    return absl::OkStatus();
  }

  const Model& model_;
  std::vector<ParameterTensor> tensors_;
  absl::flat_hash_map<std::string, size_t> layer_of_name_;
  bool is_last_ = false;
};

}  // namespace

int64_t ModelPlan::forward_flops() const {
  int64_t flops = 0;
  for (const LayerPlan& layer : layers) flops += layer.forward_flops;
  return flops;
}

absl::StatusOr<ModelPlan> PlanModel(const Model& model) {
  return Planner(model).Run();
}

}  // namespace tributary
