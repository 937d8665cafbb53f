// What `tributary validate` prints: the model layer by layer, its size and its arithmetic, and the
// plan of the training.
#ifndef TRIBUTARY_CLI_VALIDATE_H_
#define TRIBUTARY_CLI_VALIDATE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "common/job/job.h"

namespace tributary {

// Plain ASCII, aligned, several lines, with a newline at the end. `train_samples` adds the number
// of steps. A multiply-add counts as two operations; training is taken for three times the forward
// pass (the gradients of the inputs and of the weights cost about one more each).
std::string DescribeJob(const Job& job, std::optional<int64_t> train_samples = std::nullopt);

}  // namespace tributary

#endif  // TRIBUTARY_CLI_VALIDATE_H_
