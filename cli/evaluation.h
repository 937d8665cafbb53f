// Evaluates a stored model on a test set in this process.
#ifndef TRIBUTARY_CLI_EVALUATION_H_
#define TRIBUTARY_CLI_EVALUATION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/types.h"
#include "common/formats/safetensors.h"
#include "common/job/job.h"
#include "worker/data/dataset.h"

namespace tributary {

// The flat vector of a model file's arrays. Errors: INVALID_ARGUMENT in one line that starts with
// `name`, the file: an array of the layout that is missing, has another shape, or one too many.
absl::StatusOr<std::vector<float>> FlattenModel(const LoadedSafetensors& model,
                                                const Layout& layout, const std::string& name);

// Evaluates every image once, in units of job.evaluation.batch on `threads` threads; the sums are
// taken in the order of the units, so they do not depend on the number of threads. `logits`, unless
// null, gets [samples, classes].
absl::StatusOr<BatchStatistics> EvaluateModel(const Job& job, absl::Span<const float> parameters,
                                              const LabelledImages& images, int threads,
                                              std::vector<float>* logits);

}  // namespace tributary

#endif  // TRIBUTARY_CLI_EVALUATION_H_
