// One layer of a network, for one batch size: what it reads and writes is fixed when it is made, so
// that a step only runs it.
//
//   input  ------------> [ operation ] ------------> output            Forward
//   input_gradient <---- [ operation ] <---- output_gradient           Backward
//                             |
//                             +--> its part of the flat gradient
//
// All activations are [N, H, W, C] (channels last): the window of a convolution is then a few long
// contiguous rows, and a vector of channels meets every window operation. What is flat has
// H = W = 1, where PyTorch's order and this one are the same.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_OPERATION_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_OPERATION_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "common/model/model_plan.h"
#include "worker/compute/backend.h"
#include "worker/compute/cpu/dnnl_runtime.h"

namespace tributary {

// The arrays of an operation. Each has kBufferSlack elements more than it needs. Gradients are null
// where nothing is to be computed: in evaluation, and before the first layer with parameters.
struct Edges {
  float* input = nullptr;
  float* output = nullptr;          // may be `input` for elementwise operations
  float* input_gradient = nullptr;  // may be `output_gradient` for elementwise operations
  float* output_gradient = nullptr;
};

// What all operations of one batch size share; outlives them.
struct OperationContext {
  const DnnlRuntime& runtime;
  const Layout& layout;
  const float* parameters;  // the flat vector: its place stays, its values change
  int64_t batch = 0;
  bool training = false;  // whether Backward will be called
};

class Operation {
 public:
  virtual ~Operation() = default;

  // The values of context.parameters have changed.
  virtual absl::Status UseParameters() { return absl::OkStatus(); }
  virtual absl::Status Forward(const DropoutKey& key) = 0;
  // After Forward. Overwrites the input's gradient, and the layer's tensors in the flat `gradient`;
  // may overwrite the output's gradient.
  virtual absl::Status Backward(float* gradient) = 0;
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_OPERATION_H_
