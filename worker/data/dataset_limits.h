// The checks that every source of images shares.
#ifndef TRIBUTARY_WORKER_DATA_DATASET_LIMITS_H_
#define TRIBUTARY_WORKER_DATA_DATASET_LIMITS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/model/model.h"
#include "worker/data/byte_stream.h"

namespace tributary {

// "[1, 28, 28]", for messages.
std::string DescribeShape(const Shape& shape);

// Whether `found` more images fit a set that has `loaded` already: at least 1, and together no more
// than kMaxSamples, kMaxPixelBytes and the memory of this machine hold. The message starts with
// `place`.
absl::Status CheckSampleCount(absl::string_view place, int64_t found, int64_t loaded,
                              const Shape& shape);

// Whether `label`, found at `position` of `file`, is below `classes`.
absl::Status CheckLabel(const ByteStream& file, int64_t position, uint8_t label, int64_t classes);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_DATASET_LIMITS_H_
