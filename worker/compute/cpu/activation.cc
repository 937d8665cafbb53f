// Elementwise activations: relu by a loop of ours, the others by oneDNN.
//
//   relu(x) = max(x, 0);  tanh;  sigmoid(x) = 1 / (1 + exp(-x));
//   gelu(x) = x / 2 (1 + erf(x / sqrt(2)))
#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"

namespace tributary {
namespace {

using dnnl::memory;

class Relu final : public Operation {
 public:
  Relu(int64_t elements, const Edges& edges) : elements_(elements), edges_(edges) {}

  absl::Status Forward(const DropoutKey&) override {
    ReluForward(edges_.input, elements_, edges_.output);
    return absl::OkStatus();
  }
  absl::Status Backward(float*) override {
    ReluBackward(edges_.output, edges_.output_gradient, elements_, edges_.input_gradient);
    return absl::OkStatus();
  }

 private:
  const int64_t elements_;
  const Edges edges_;
};

class SmoothActivation final : public Operation {
 public:
  SmoothActivation(const OperationContext& context, ActivationLayer::Kind kind, int64_t elements,
                   const Edges& edges) {
    const DnnlRuntime& runtime = context.runtime;
    const memory::desc layout({elements}, memory::data_type::f32, memory::format_tag::a);
    // The derivatives of tanh and sigmoid are functions of their values; gelu's is one of x.
    const bool from_output = kind != ActivationLayer::Kind::kGelu;
    const dnnl::algorithm algorithm = Algorithm(kind);
    const dnnl::eltwise_forward::primitive_desc forward(
        {context.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference,
         algorithm, layout, 0.0f, 0.0f},
        UserScratchpad(), runtime.engine);
    const memory input = WrapArray(layout, runtime, edges.input);
    const memory output = WrapArray(layout, runtime, edges.output);
    forward_ = {runtime,
                dnnl::eltwise_forward(forward),
                {{DNNL_ARG_SRC, input}, {DNNL_ARG_DST, output}},
                forward.scratchpad_desc()};
    if (!context.training || edges.input_gradient == nullptr) return;
    const dnnl::eltwise_backward::primitive_desc backward(
        {algorithm, layout, layout, 0.0f, 0.0f}, UserScratchpad(), runtime.engine, forward);
    backward_ = {runtime,
                 dnnl::eltwise_backward(backward),
                 {{from_output ? DNNL_ARG_DST : DNNL_ARG_SRC, from_output ? output : input},
                  {DNNL_ARG_DIFF_DST, WrapArray(layout, runtime, edges.output_gradient)},
                  {DNNL_ARG_DIFF_SRC, WrapArray(layout, runtime, edges.input_gradient)}},
                 backward.scratchpad_desc()};
  }

  absl::Status Forward(const DropoutKey&) override { return forward_.Run("activation: forward"); }
  absl::Status Backward(float*) override { return backward_.Run("activation: gradient"); }

 private:
  static dnnl::algorithm Algorithm(ActivationLayer::Kind kind) {
    switch (kind) {
      case ActivationLayer::Kind::kTanh:
        return dnnl::algorithm::eltwise_tanh_use_dst_for_bwd;
      case ActivationLayer::Kind::kSigmoid:
        return dnnl::algorithm::eltwise_logistic_use_dst_for_bwd;
      default:
        return dnnl::algorithm::eltwise_gelu_erf;
    }
  }

  PreparedPrimitive forward_;
  PreparedPrimitive backward_;
};

}  // namespace

OperationOr MakeActivation(const OperationContext& context, const ActivationLayer& activation,
                           const LayerPlan& plan, const Edges& edges) {
  const int64_t elements = context.batch * plan.output.elements();
  if (activation.kind == ActivationLayer::Kind::kRelu) {
    return std::make_unique<Relu>(elements, edges);
  }
  return std::make_unique<SmoothActivation>(context, activation.kind, elements, edges);
}

}  // namespace tributary
