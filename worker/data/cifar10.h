// The binary version of CIFAR-10 (https://www.cs.toronto.edu/~kriz/cifar.html): records of one
// label byte and 3072 pixel bytes, [3, 32, 32] in red, green, blue; no header.
#ifndef TRIBUTARY_WORKER_DATA_CIFAR10_H_
#define TRIBUTARY_WORKER_DATA_CIFAR10_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/model/model.h"
#include "worker/data/byte_stream.h"

namespace tributary {

inline constexpr Shape kCifar10Shape{3, 32, 32};

// A file has no header that says how much a compressed one may unfold to, so there is a limit: a
// hundred times the format's own 10,000.
inline constexpr int64_t kMaxCifar10Records = 1'000'000;

// Reads `file`, of at most `max_records`, to its end and appends its images and labels (each below
// `classes`). Errors: INVALID_ARGUMENT with file, byte, what was found and what is expected.
absl::Status ReadCifar10(ByteStream& file, int64_t classes, int64_t max_records,
                         std::vector<uint8_t>& pixels, std::vector<uint8_t>& labels);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_CIFAR10_H_
