// Convolution, max pooling and relu (before or after the pooling: the two commute) as one
// operation: the forward pass is pooled_conv.h, the gradients are sparse_conv_gradient.h.
//
// The gradient is PyTorch's: it goes to the first of the largest elements of a window, and nowhere
// where the result is not positive.
#include <limits>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"
#include "worker/compute/cpu/pooled_conv.h"
#include "worker/compute/cpu/sparse_conv_gradient.h"

namespace tributary {
namespace {

class ConvMaxPool final : public Operation {
 public:
  ConvMaxPool(const OperationContext& context, const ConvMaxPoolLayers& layers, const Edges& edges,
              PooledConv forward)
      : context_(context),
        weight_offset_(context.layout.tensors()[layers.conv_plan.weight].offset),
        has_bias_(layers.conv_plan.bias >= 0),
        bias_offset_(has_bias_ ? context.layout.tensors()[layers.conv_plan.bias].offset
                               : weight_offset_),
        pooled_(layers.pool_plan.output),
        relu_(layers.relu),
        edges_(edges),
        origin_(context.batch * pooled_.elements()),
        forward_(std::move(forward)),
        gradient_(layers.conv, layers.conv_plan, pooled_) {}

  absl::Status Initialize() { return gradient_.Initialize(); }

  absl::Status UseParameters() override {
    if (edges_.input_gradient != nullptr) gradient_.UseWeight(context_.parameters + weight_offset_);
    return absl::OkStatus();
  }

  absl::Status Forward(const DropoutKey&) override {
    return forward_.Run(context_.batch,
                        {.input = edges_.input,
                         .weight = context_.parameters + weight_offset_,
                         .bias = has_bias_ ? context_.parameters + bias_offset_ : nullptr,
                         .output = edges_.output,
                         .origin = origin_.data()});
  }

  absl::Status Backward(float* gradient) override {
    const int64_t rows = context_.batch * pooled_.height * pooled_.width;
    float* const dy = edges_.output_gradient;
    if (relu_) ReluBackward(edges_.output, dy, rows * pooled_.channels, dy);
    if (has_bias_) SumRows(dy, rows, pooled_.channels, gradient + bias_offset_);
    gradient_.Compute(context_.batch, {.input = edges_.input,
                                       .pooled_gradient = dy,
                                       .origin = origin_.data(),
                                       .weight_gradient = gradient + weight_offset_,
                                       .input_gradient = edges_.input_gradient});
    return absl::OkStatus();
  }

 private:
  const OperationContext& context_;
  const int64_t weight_offset_;
  const bool has_bias_;
  const int64_t bias_offset_;
  const Shape pooled_;
  const bool relu_;
  const Edges edges_;
  std::vector<int32_t> origin_;
  PooledConv forward_;
  SparseConvGradient gradient_;
};

}  // namespace

bool CanJoinConvMaxPool(const Conv2dLayer& conv, const LayerPlan& conv_plan,
                        const Pool2dLayer& pool) {
  if (pool.kind != Pool2dLayer::Kind::kMax || pool.kernel != pool.stride ||
      pool.padding != Size2d{0, 0} || pool.kernel.height * pool.kernel.width < 3) {
    return false;
  }
  // Offsets within an image and within the weight are 32-bit; a row of the weight is rounded up.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / kRowVector;
  const int64_t padded_input = (conv_plan.input.height + 2 * conv.padding.height) *
                               (conv_plan.input.width + 2 * conv.padding.width) *
                               conv_plan.input.channels;
  return conv.groups == 1 && conv.dilation.width == 1 && padded_input < kMost &&
         conv_plan.output.elements() < kMost &&
         conv_plan.output.channels * conv_plan.fan_in < kMost;
}

OperationOr MakeConvMaxPool(const OperationContext& context, const ConvMaxPoolLayers& layers,
                            const Edges& edges) {
  ASSIGN_OR_RETURN(PooledConv forward, PooledConv::Create(layers));
  auto operation = std::make_unique<ConvMaxPool>(context, layers, edges, std::move(forward));
  RETURN_IF_ERROR(operation->Initialize());
  return operation;
}

}  // namespace tributary
