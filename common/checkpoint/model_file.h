// The trained model as a file: one safetensors array per parameter tensor, named and shaped as
// PyTorch names and shapes them, and the job in text format, so that the file explains itself.
#ifndef TRIBUTARY_COMMON_CHECKPOINT_MODEL_FILE_H_
#define TRIBUTARY_COMMON_CHECKPOINT_MODEL_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "common/job/job_file.h"

namespace tributary {

// Keys of the file's metadata. "format": "pt", as PyTorch's own writers put it.
inline constexpr char kModelFileJobKey[] = "tributary.job";
inline constexpr char kModelFileVersionKey[] = "tributary.version";

// Writes `parameters`, the whole flat vector at `version`, atomically. Errors: the path and the
// system's reason; what was at the path stays.
absl::Status WriteModelFile(const std::string& path, const LoadedJob& job, Version version,
                            absl::Span<const float> parameters);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CHECKPOINT_MODEL_FILE_H_
