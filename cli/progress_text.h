// Progress in words: a job's status in, a line out.
#ifndef TRIBUTARY_CLI_PROGRESS_TEXT_H_
#define TRIBUTARY_CLI_PROGRESS_TEXT_H_

#include <cstddef>
#include <string>

#include "tributary/v1/training.pb.h"

namespace tributary {

// One line without a newline, at most `width` columns (of ASCII; what does not fit is cut off):
//
//   epoch 3/12 [#######----] step 1234/11256 loss 0.3812 accuracy 0.8731 41,203 images/s 0:12 left
//
// or what is being waited for. The bar is the job's, not the epoch's. The status came over the
// network: no value of it is trusted.
std::string FormatProgress(const v1::JobStatus& status, size_t width);

// "epoch 3: test accuracy 0.8812, test loss 0.3312" ("step 200: ..." in the middle of an epoch).
// Empty if nothing has been evaluated yet.
std::string FormatEvaluation(const v1::JobStatus& status);

}  // namespace tributary

#endif  // TRIBUTARY_CLI_PROGRESS_TEXT_H_
