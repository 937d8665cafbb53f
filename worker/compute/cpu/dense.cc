// Fully connected layer, by oneDNN's matrix product:
//
//   y[n, o] = bias[o] + sum over i of weight[o, i] x[n, i]
//   dx = dy weight;  dweight = transposed(dy) x;  dbias[o] = sum over n of dy[n, o]
#include <algorithm>

#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"

namespace tributary {
namespace {

class Dense final : public Operation {
 public:
  Dense(const OperationContext& context, const LayerPlan& plan, const Edges& edges)
      : context_(context),
        edges_(edges),
        inputs_(plan.input.channels),
        outputs_(plan.output.channels),
        weight_offset_(context.layout.tensors()[plan.weight].offset),
        has_bias_(plan.bias >= 0),
        bias_offset_(has_bias_ ? context.layout.tensors()[plan.bias].offset : 0) {}

  absl::Status Forward(const DropoutKey&) override {
    if (has_bias_) {
      const float* bias = context_.parameters + bias_offset_;
      for (int64_t n = 0; n < context_.batch; ++n) {
        std::copy_n(bias, outputs_, edges_.output + n * outputs_);
      }
    }
    return FromDnnl(dnnl_sgemm('N', 'T', context_.batch, outputs_, inputs_, 1.0f, edges_.input,
                               inputs_, context_.parameters + weight_offset_, inputs_,
                               has_bias_ ? 1.0f : 0.0f, edges_.output, outputs_),
                    "dense: forward");
  }

  absl::Status Backward(float* gradient) override {
    absl::Status status = FromDnnl(
        dnnl_sgemm('T', 'N', outputs_, inputs_, context_.batch, 1.0f, edges_.output_gradient,
                   outputs_, edges_.input, inputs_, 0.0f, gradient + weight_offset_, inputs_),
        "dense: weight gradient");
    if (has_bias_) {
      SumRows(edges_.output_gradient, context_.batch, outputs_, gradient + bias_offset_);
    }
    if (!status.ok() || edges_.input_gradient == nullptr) return status;
    return FromDnnl(
        dnnl_sgemm('N', 'N', context_.batch, inputs_, outputs_, 1.0f, edges_.output_gradient,
                   outputs_, context_.parameters + weight_offset_, inputs_, 0.0f,
                   edges_.input_gradient, inputs_),
        "dense: data gradient");
  }

 private:
  const OperationContext& context_;
  const Edges edges_;
  const int64_t inputs_;
  const int64_t outputs_;
  const int64_t weight_offset_;
  const bool has_bias_;
  const int64_t bias_offset_;
};

}  // namespace

OperationOr MakeDense(const OperationContext& context, const DenseLayer&, const LayerPlan& plan,
                      const Edges& edges) {
  return std::make_unique<Dense>(context, plan, edges);
}

}  // namespace tributary
