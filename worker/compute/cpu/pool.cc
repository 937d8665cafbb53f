// Pooling: max by loops of ours (the first of equal values, NaN wins: as in PyTorch; oneDNN's drops
// NaN), average by oneDNN.
#include <vector>

#include "worker/compute/cpu/kernels.h"
#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"

namespace tributary {
namespace {

using dnnl::memory;

class MaxPool final : public Operation {
 public:
  MaxPool(const OperationContext& context, const Pool2dLayer& pool, const LayerPlan& plan,
          const Edges& edges)
      : batch_(context.batch),
        geometry_{plan.input, plan.output, pool.kernel, pool.stride, pool.padding},
        edges_(edges),
        origin_(batch_ * plan.output.elements() + kPoolBlock) {}

  absl::Status Forward(const DropoutKey&) override {
    BestKernels().max_pool(geometry_, batch_, edges_.input, edges_.output, origin_.data());
    return absl::OkStatus();
  }
  absl::Status Backward(float*) override {
    ScatterAdd(edges_.output_gradient, origin_.data(), batch_,
               geometry_.output.height * geometry_.output.width, geometry_.output.channels,
               geometry_.input.elements(), edges_.input_gradient);
    return absl::OkStatus();
  }

 private:
  const int64_t batch_;
  const PoolGeometry geometry_;
  const Edges edges_;
  std::vector<int32_t> origin_;
};

class AveragePool final : public Operation {
 public:
  AveragePool(const OperationContext& context, const Pool2dLayer& pool, const LayerPlan& plan,
              const Edges& edges) {
    const DnnlRuntime& runtime = context.runtime;
    const auto algorithm = pool.count_include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                                  : dnnl::algorithm::pooling_avg_exclude_padding;
    const auto kind =
        context.training ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    const memory::desc input = Describe(context.batch, plan.input);
    const memory::desc output = Describe(context.batch, plan.output);
    const memory::dims strides{pool.stride.height, pool.stride.width};
    const memory::dims kernel{pool.kernel.height, pool.kernel.width};
    const memory::dims padding{pool.padding.height, pool.padding.width};
    const dnnl::pooling_forward::primitive_desc forward(
        {kind, algorithm, input, output, strides, kernel, padding, padding}, UserScratchpad(),
        runtime.engine);
    forward_ = {runtime,
                dnnl::pooling_forward(forward),
                {{DNNL_ARG_SRC, WrapArray(input, runtime, edges.input)},
                 {DNNL_ARG_DST, WrapArray(output, runtime, edges.output)}},
                forward.scratchpad_desc()};
    if (!context.training || edges.input_gradient == nullptr) return;
    const dnnl::pooling_backward::primitive_desc backward(
        {algorithm, input, output, strides, kernel, padding, padding}, UserScratchpad(),
        runtime.engine, forward);
    backward_ = {runtime,
                 dnnl::pooling_backward(backward),
                 {{DNNL_ARG_DIFF_DST, WrapArray(output, runtime, edges.output_gradient)},
                  {DNNL_ARG_DIFF_SRC, WrapArray(input, runtime, edges.input_gradient)}},
                 backward.scratchpad_desc()};
  }

  absl::Status Forward(const DropoutKey&) override { return forward_.Run("avg_pool2d: forward"); }
  absl::Status Backward(float*) override { return backward_.Run("avg_pool2d: gradient"); }

 private:
  static memory::desc Describe(int64_t batch, const Shape& shape) {
    return {{batch, shape.channels, shape.height, shape.width},
            memory::data_type::f32,
            memory::format_tag::nhwc};
  }

  PreparedPrimitive forward_;
  PreparedPrimitive backward_;
};

}  // namespace

OperationOr MakeMaxPool(const OperationContext& context, const Pool2dLayer& pool,
                        const LayerPlan& plan, const Edges& edges) {
  return std::make_unique<MaxPool>(context, pool, plan, edges);
}

OperationOr MakeAveragePool(const OperationContext& context, const Pool2dLayer& pool,
                            const LayerPlan& plan, const Edges& edges) {
  return std::make_unique<AveragePool>(context, pool, plan, edges);
}

}  // namespace tributary
