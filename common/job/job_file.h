// Reads the job file, the one text file a user writes, and checks all of it before anything starts.
//
// Every error is INVALID_ARGUMENT (NOT_FOUND for a missing file) with one line of the form
//
//   examples/mnist.textproto:12: training.slots: found 128, allowed 1 to 64 (training.global_batch)
//
// that is: file and line (or "--set" for an override), field, what was found, what is allowed.
#ifndef TRIBUTARY_COMMON_JOB_JOB_FILE_H_
#define TRIBUTARY_COMMON_JOB_JOB_FILE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/job/job.h"
#include "tributary/v1/job.pb.h"

namespace tributary {

// A job in both forms: as it goes over the wire (the model written in, no model_file), and checked.
struct LoadedJob {
  v1::JobSpec spec;
  Job job;
};

// A job file larger than this is refused.
inline constexpr int64_t kMaxJobFileBytes = int64_t{16} << 20;

// Reads `path`, applies `overrides` in order ("training.epochs=3"; the last one counts; a repeated
// field is replaced by a comma-separated list), reads model_file, checks everything.
absl::StatusOr<LoadedJob> LoadJobFile(const std::string& path,
                                      const std::vector<std::string>& overrides);

// Checks a spec that came over the wire (or out of a test); errors name the field alone.
absl::StatusOr<Job> JobFromSpec(const v1::JobSpec& spec);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_JOB_FILE_H_
