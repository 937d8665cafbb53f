// Softmax cross-entropy, the end of every network:
//
//   loss[n] = log(sum over j of exp(x[n, j])) - x[n, label[n]]
//   dx[n, j] = exp(x[n, j]) / sum over k of exp(x[n, k]) - (j == label[n])
//
// computed in double with the largest logit taken out first, so that nothing overflows.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_LOSS_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_LOSS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "common/base/types.h"

namespace tributary {

// `logits` is [N, classes]. Adds the samples' number, losses and correct predictions (the first of
// the largest logits) to `statistics`. Writes the gradient of the losses' sum to `gradient` unless
// it is null; it may be `logits`.
void SoftmaxCrossEntropy(const float* logits, absl::Span<const int32_t> labels, int64_t classes,
                         BatchStatistics& statistics, float* gradient);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_LOSS_H_
