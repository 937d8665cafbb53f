// A network made for one batch size: every array, primitive and reorder exists before the first
// step, and a step runs them in order.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_BATCH_GRAPH_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_BATCH_GRAPH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/model/model_plan.h"
#include "worker/compute/cpu/aligned_buffer.h"
#include "worker/compute/cpu/operation.h"

namespace tributary {

class BatchGraph {
 public:
  // For `batch` >= 1 images. `plan`, `runtime` and the flat vector `parameters` outlive the graph.
  // With `training`, Backward may be called and dropout drops. The calling thread has one OpenMP
  // thread, here and in every call. Errors: as CreateCpuNetwork.
  static absl::StatusOr<std::unique_ptr<BatchGraph>> Create(const ModelPlan& plan,
                                                            const DnnlRuntime& runtime,
                                                            const float* parameters, int64_t batch,
                                                            bool training);
  BatchGraph(const BatchGraph&) = delete;
  BatchGraph& operator=(const BatchGraph&) = delete;

  // The values of `parameters` have changed since the last call.
  absl::Status UseParameters();

  // From images [N, C, H, W] to logits().
  absl::Status Forward(absl::Span<const float> images, const DropoutKey& key);
  // [N, classes]: what the last layer gets.
  const float* logits() const { return logits_; }
  // [N, classes]: to be filled in before Backward.
  float* logits_gradient() { return logits_gradient_; }
  // The parameters' gradient into `gradient`, but for the layout's padding.
  absl::Status Backward(float* gradient);

 private:
  class Builder;

  BatchGraph(const ModelPlan& plan, const DnnlRuntime& runtime, const float* parameters,
             int64_t batch, bool training)
      : plan_(plan), context_{runtime, plan.layout, parameters, batch, training} {}

  const ModelPlan& plan_;
  const OperationContext context_;
  std::vector<AlignedBuffer> buffers_;
  std::vector<std::unique_ptr<Operation>> operations_;
  size_t first_trained_ = 0;  // operations before it have no backward pass
  float* images_ = nullptr;   // [N, H, W, C]
  float* logits_ = nullptr;
  float* logits_gradient_ = nullptr;
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_BATCH_GRAPH_H_
