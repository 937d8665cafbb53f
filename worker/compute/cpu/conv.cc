// Two-dimensional convolution (cross-correlation, as in every framework), by oneDNN:
//
//   y[n, o, p] = bias[o] + sum over (i, k) of weight[o, i, k] x[n, i, p * stride - padding +
//                k * dilation]
//   dx: the transposed convolution of dy
//   dweight[o, i, k] = sum over (n, p) of dy[n, o, p] x[n, i, p * stride - padding + k * dilation]
//   dbias[o] = sum over (n, p) of dy[n, o, p]
#include "worker/compute/cpu/operations.h"

namespace tributary {
namespace {

using dnnl::memory;

// A convolution in oneDNN's words.
struct ConvDescription {
  ConvDescription(const OperationContext& context, const Conv2dLayer& conv, const LayerPlan& plan)
      : weight_offset(context.layout.tensors()[plan.weight].offset),
        bias_offset(plan.bias >= 0 ? context.layout.tensors()[plan.bias].offset : weight_offset),
        has_bias(plan.bias >= 0) {
    constexpr auto kFloat = memory::data_type::f32;
    const int64_t n = context.batch;
    const int64_t g = conv.groups;
    const Shape& in = plan.input;
    const Shape& out = plan.output;
    input = {{n, in.channels, in.height, in.width}, kFloat, memory::format_tag::nhwc};
    output = {{n, out.channels, out.height, out.width}, kFloat, memory::format_tag::nhwc};
    bias = {{out.channels}, kFloat, memory::format_tag::a};
    const memory::dims shape =
        g == 1 ? memory::dims{out.channels, in.channels, conv.kernel.height, conv.kernel.width}
               : memory::dims{g, out.channels / g, in.channels / g, conv.kernel.height,
                              conv.kernel.width};
    weight = {shape, kFloat, memory::format_tag::any};
    plain_weight = {shape, kFloat, g == 1 ? memory::format_tag::oihw : memory::format_tag::goihw};
    strides = {conv.stride.height, conv.stride.width};
    dilation = {conv.dilation.height - 1, conv.dilation.width - 1};  // oneDNN counts the gaps
    padding = {conv.padding.height, conv.padding.width};
  }

  int64_t weight_offset;  // of the tensors in the flat vector
  int64_t bias_offset;    // without a bias: any place, oneDNN ignores the argument
  bool has_bias;
  memory::desc input, output;  // [N, H, W, C]
  memory::desc weight;         // any layout
  memory::desc plain_weight;   // PyTorch's
  memory::desc bias;
  memory::dims strides, dilation, padding;
};

class Conv final : public Operation {
 public:
  Conv(const OperationContext& context, const Conv2dLayer& conv, const LayerPlan& plan,
       const Edges& edges)
      : context_(context), description_(context, conv, plan) {
    const auto forward = MakeForward(edges);
    if (!context.training) return;
    if (edges.input_gradient != nullptr) MakeBackwardData(edges, forward);
    MakeBackwardWeights(edges, forward);
  }

  absl::Status UseParameters() override {
    absl::Status status;
    for (const PreparedPrimitive* reorder : {&forward_reorder_, &data_reorder_}) {
      if (status.ok() && *reorder) status = reorder->Run("conv2d: reorder of the weight");
    }
    return status;
  }

  absl::Status Forward(const DropoutKey&) override { return forward_.Run("conv2d: forward"); }

  absl::Status Backward(float* gradient) override {
    weight_gradient_.set_data_handle(gradient + description_.weight_offset);
    bias_gradient_.set_data_handle(gradient + description_.bias_offset);
    absl::Status status = weights_.Run("conv2d: weight gradient");
    if (status.ok() && gradient_reorder_) {
      status = gradient_reorder_.Run("conv2d: reorder of the weight gradient");
    }
    if (status.ok() && data_) status = data_.Run("conv2d: data gradient");
    return status;
  }

 private:
  dnnl::convolution_forward::primitive_desc MakeForward(const Edges& edges) {
    const ConvDescription& d = description_;
    constexpr auto kDirect = dnnl::algorithm::convolution_direct;
    const auto kind =
        context_.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    const auto description =
        d.has_bias
            ? dnnl::convolution_forward::desc(kind, kDirect, d.input, d.weight, d.bias, d.output,
                                              d.strides, d.dilation, d.padding, d.padding)
            : dnnl::convolution_forward::desc(kind, kDirect, d.input, d.weight, d.output, d.strides,
                                              d.dilation, d.padding, d.padding);
    dnnl::convolution_forward::primitive_desc primitive(description, UserScratchpad(),
                                                        context_.runtime.engine);
    forward_ = {context_.runtime,
                dnnl::convolution_forward(primitive),
                {{DNNL_ARG_SRC, Wrap(d.input, edges.input)},
                 {DNNL_ARG_WEIGHTS, WeightIn(primitive.weights_desc(), forward_reorder_)},
                 {DNNL_ARG_BIAS, Wrap(d.bias, context_.parameters + d.bias_offset)},
                 {DNNL_ARG_DST, Wrap(d.output, edges.output)}},
                primitive.scratchpad_desc()};
    return primitive;
  }

  void MakeBackwardData(const Edges& edges,
                        const dnnl::convolution_forward::primitive_desc& forward) {
    const ConvDescription& d = description_;
    const dnnl::convolution_backward_data::desc description(dnnl::algorithm::convolution_direct,
                                                            d.input, d.weight, d.output, d.strides,
                                                            d.dilation, d.padding, d.padding);
    const dnnl::convolution_backward_data::primitive_desc primitive(
        description, UserScratchpad(), context_.runtime.engine, forward);
    data_ = {context_.runtime,
             dnnl::convolution_backward_data(primitive),
             {{DNNL_ARG_DIFF_DST, Wrap(d.output, edges.output_gradient)},
              {DNNL_ARG_WEIGHTS, WeightIn(primitive.weights_desc(), data_reorder_)},
              {DNNL_ARG_DIFF_SRC, Wrap(d.input, edges.input_gradient)}},
             primitive.scratchpad_desc()};
  }

  void MakeBackwardWeights(const Edges& edges,
                           const dnnl::convolution_forward::primitive_desc& forward) {
    const ConvDescription& d = description_;
    constexpr auto kDirect = dnnl::algorithm::convolution_direct;
    const auto description =
        d.has_bias
            ? dnnl::convolution_backward_weights::desc(kDirect, d.input, d.weight, d.bias, d.output,
                                                       d.strides, d.dilation, d.padding, d.padding)
            : dnnl::convolution_backward_weights::desc(kDirect, d.input, d.weight, d.output,
                                                       d.strides, d.dilation, d.padding, d.padding);
    const dnnl::convolution_backward_weights::primitive_desc primitive(
        description, UserScratchpad(), context_.runtime.engine, forward);
    weight_gradient_ = Wrap(d.plain_weight, nullptr);
    bias_gradient_ = Wrap(d.bias, nullptr);
    memory computed = weight_gradient_;
    if (primitive.diff_weights_desc() != d.plain_weight) {
      computed = memory(primitive.diff_weights_desc(), context_.runtime.engine);
      gradient_reorder_ = {context_.runtime,
                           dnnl::reorder(computed, weight_gradient_),
                           {{DNNL_ARG_FROM, computed}, {DNNL_ARG_TO, weight_gradient_}},
                           {}};
    }
    weights_ = {context_.runtime,
                dnnl::convolution_backward_weights(primitive),
                {{DNNL_ARG_SRC, Wrap(d.input, edges.input)},
                 {DNNL_ARG_DIFF_DST, Wrap(d.output, edges.output_gradient)},
                 {DNNL_ARG_DIFF_WEIGHTS, computed},
                 {DNNL_ARG_DIFF_BIAS, bias_gradient_}},
                primitive.scratchpad_desc()};
  }

  // The weight in `layout`: the parameters themselves, or a copy that `reorder` fills.
  memory WeightIn(const memory::desc& layout, PreparedPrimitive& reorder) const {
    memory plain =
        Wrap(description_.plain_weight, context_.parameters + description_.weight_offset);
    if (layout == description_.plain_weight) return plain;
    memory reordered(layout, context_.runtime.engine);
    reorder = {context_.runtime,
               dnnl::reorder(plain, reordered),
               {{DNNL_ARG_FROM, plain}, {DNNL_ARG_TO, reordered}},
               {}};
    return reordered;
  }

  memory Wrap(const memory::desc& layout, const float* data) const {
    return WrapArray(layout, context_.runtime, data);
  }

  const OperationContext& context_;
  const ConvDescription description_;
  PreparedPrimitive forward_reorder_, data_reorder_, gradient_reorder_;
  PreparedPrimitive forward_, data_, weights_;
  memory weight_gradient_, bias_gradient_;  // within the flat gradient of the pass
};

}  // namespace

OperationOr MakeConv(const OperationContext& context, const Conv2dLayer& conv,
                     const LayerPlan& plan, const Edges& edges) {
  return std::make_unique<Conv>(context, conv, plan, edges);
}

}  // namespace tributary
