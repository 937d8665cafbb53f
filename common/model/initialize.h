// Initial parameters: a function of (model, seed, position), so that every shard fills its own
// range and nothing has to be sent.
#ifndef TRIBUTARY_COMMON_MODEL_INITIALIZE_H_
#define TRIBUTARY_COMMON_MODEL_INITIALIZE_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/base/types.h"
#include "common/model/model_plan.h"

namespace tributary {

// Fills `out` (range.size() elements) with the initial values of the flat vector's `range`; padding
// becomes zero. Element i of tensor k is lo + (hi - lo) * u in fp32, where u is number i % 4 of
// block i / 4 of the stream (seed, kInitialization, k).
void InitializeParameters(const ModelPlan& plan, uint64_t seed, ElementRange range,
                          absl::Span<float> out);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_MODEL_INITIALIZE_H_
