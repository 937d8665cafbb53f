// The CPU backend: oneDNN primitives, planned once per batch size.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_CPU_NETWORK_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_CPU_NETWORK_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "common/model/model_plan.h"
#include "worker/compute/backend.h"

namespace tributary {

// A network for batches of up to `max_batch` images. `plan` is copied. Errors: UNIMPLEMENTED with
// the layer and oneDNN's reason when the library has no implementation; RESOURCE_EXHAUSTED when the
// memory cannot be had, with the layer or the bytes; INVALID_ARGUMENT for a `max_batch` below 0 or
// above 2^20.
absl::StatusOr<std::unique_ptr<Network>> CreateCpuNetwork(const ModelPlan& plan, int64_t max_batch);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_CPU_NETWORK_H_
