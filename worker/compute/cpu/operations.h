// The operations of the CPU backend, one file each. What they throw is dnnl::error, where oneDNN
// cannot make a primitive; nothing else.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_OPERATIONS_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_OPERATIONS_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/model_plan.h"
#include "worker/compute/cpu/operation.h"

namespace tributary {

using OperationOr = absl::StatusOr<std::unique_ptr<Operation>>;

OperationOr MakeConv(const OperationContext& context, const Conv2dLayer& conv,
                     const LayerPlan& plan, const Edges& edges);
// Convolution and max pooling as one operation, with a relu before or after the pooling.
struct ConvMaxPoolLayers {
  const Conv2dLayer& conv;
  const LayerPlan& conv_plan;
  const Pool2dLayer& pool;
  const LayerPlan& pool_plan;
  bool relu = false;
};
// Whether the two can be joined: windows side by side, at least 3 elements each (or there is little
// to gain), no groups, no dilation along the width.
bool CanJoinConvMaxPool(const Conv2dLayer& conv, const LayerPlan& conv_plan,
                        const Pool2dLayer& pool);
OperationOr MakeConvMaxPool(const OperationContext& context, const ConvMaxPoolLayers& layers,
                            const Edges& edges);
OperationOr MakeMaxPool(const OperationContext& context, const Pool2dLayer& pool,
                        const LayerPlan& plan, const Edges& edges);
OperationOr MakeAveragePool(const OperationContext& context, const Pool2dLayer& pool,
                            const LayerPlan& plan, const Edges& edges);
OperationOr MakeDense(const OperationContext& context, const DenseLayer& dense,
                      const LayerPlan& plan, const Edges& edges);
OperationOr MakeActivation(const OperationContext& context, const ActivationLayer& activation,
                           const LayerPlan& plan, const Edges& edges);
OperationOr MakeFlatten(const OperationContext& context, const LayerPlan& plan, const Edges& edges);
// `layer_index`: of the layer in the model; a part of the name of its random numbers.
OperationOr MakeDropout(const OperationContext& context, const DropoutLayer& dropout,
                        int64_t layer_index, const LayerPlan& plan, const Edges& edges);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_OPERATIONS_H_
