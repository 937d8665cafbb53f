// What a worker asks of a compute device: the gradient of a micro-batch, and the evaluation of a
// batch, for one model. compute/cpu implements it with oneDNN.
//
// A Network is bound to one thread at a time and computes with that thread alone: a worker that
// wants more cores makes one Network per thread and gives each its own slots, so the bits of a slot
// never depend on the number of threads.
//
// Arrays are fp32, row-major, in PyTorch's layouts: images [N, C, H, W], parameters as in the flat
// vector (common/model/layout.h).
#ifndef TRIBUTARY_WORKER_COMPUTE_BACKEND_H_
#define TRIBUTARY_WORKER_COMPUTE_BACKEND_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/base/types.h"

namespace tributary {

// A micro-batch. The memory belongs to the caller and lives until the call returns.
struct Batch {
  absl::Span<const float> images;    // [N, C, H, W], normalised
  absl::Span<const int32_t> labels;  // [N], each in [0, classes)
  int64_t size() const { return static_cast<int64_t>(labels.size()); }
};

// Names the random numbers of one micro-batch: dropout masks are a function of (seed, step, layer,
// position of the sample in the epoch's order), whoever computes the slot.
struct DropoutKey {
  uint64_t seed = 0;
  Step step = 0;
  int64_t first_position = 0;
};

class Network {
 public:
  virtual ~Network() = default;

  // Takes the parameters of the next computations: the whole flat vector, copied or reordered
  // before it returns.
  virtual absl::Status SetParameters(absl::Span<const float> parameters) = 0;

  // The sum over the batch of the gradients of each sample's loss, written into `gradient` (the
  // whole flat vector, every element overwritten, padding with zero). An empty batch gives zeros.
  // Deterministic: the same batch and parameters give the same bits. Any size from 0 to the
  // network's maximum. Statistics: number of samples, sum of the losses, samples whose label has
  // the largest logit (the first of equal ones), whether any element of `gradient` is not finite.
  virtual absl::Status ComputeGradient(const Batch& batch, const DropoutKey& key,
                                       absl::Span<float> gradient, BatchStatistics& statistics) = 0;

  // Loss and correct predictions in evaluation mode (no dropout).
  virtual absl::Status Evaluate(const Batch& batch, BatchStatistics& statistics) = 0;

  // The inputs of the last layer, [N, classes], in evaluation mode.
  virtual absl::Status ComputeLogits(absl::Span<const float> images, int64_t size,
                                     absl::Span<float> logits) = 0;
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_BACKEND_H_
