// JobSpec, as it is written, to Job: defaults filled in, everything checked.
#ifndef TRIBUTARY_COMMON_JOB_JOB_CHECK_H_
#define TRIBUTARY_COMMON_JOB_JOB_CHECK_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "common/job/job.h"
#include "common/job/source_map.h"
#include "tributary/v1/job.pb.h"

namespace tributary {

// The model must be written in (no model_file). Errors: INVALID_ARGUMENT, one line, see job_file.h.
absl::StatusOr<Job> CheckJob(const v1::JobSpec& spec, const SourceMap& sources);

// Bounds on what a job may ask for. All products of them fit into 63 bits.
inline constexpr size_t kMaxJobNameBytes = 100;
inline constexpr int64_t kMaxEpochs = 1'000'000;
inline constexpr int64_t kMaxGlobalBatch = int64_t{1} << 20;
inline constexpr int64_t kMaxSlots = int64_t{1} << 16;
// Steps are counted exactly in a double up to here.
inline constexpr int64_t kMaxJobSteps = int64_t{1} << 53;
inline constexpr int64_t kMaxEvaluationBatch = int64_t{1} << 20;
inline constexpr int64_t kMaxDataFiles = 10'000;
inline constexpr int64_t kMaxSyntheticSamples = int64_t{1} << 31;
// A label is a byte.
inline constexpr int64_t kMaxClasses = 256;

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_JOB_CHECK_H_
