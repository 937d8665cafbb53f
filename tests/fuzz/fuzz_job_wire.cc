// Any bytes as a JobSpec of a peer: an error of one line, or a job that can be described.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "cli/validate.h"
#include "common/job/job_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tributary::v1::JobSpec spec;
  if (!spec.ParseFromArray(data, static_cast<int>(size))) return 0;
  const absl::StatusOr<tributary::Job> job = tributary::JobFromSpec(spec);
  if (job.ok()) {
    if (tributary::DescribeJob(*job, 1'000'000).empty()) std::abort();
  } else if (job.status().message().find('\n') != absl::string_view::npos) {
    std::abort();
  }
  return 0;
}
