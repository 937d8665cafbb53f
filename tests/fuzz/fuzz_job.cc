// Any text as a job file, any texts as overrides: an error of one line, or a job that can be
// described, goes over the wire and comes out the same.
//
// The input is the job file's text and the overrides, with a zero byte between them.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_split.h"
#include "cli/validate.h"
#include "common/base/status_macros.h"
#include "common/job/job_check.h"
#include "common/job/job_file.h"
#include "common/job/overrides.h"
#include "common/job/source_map.h"
#include "common/job/spec_reader.h"

namespace tributary {
namespace {

// What LoadJobFile does, without files.
absl::StatusOr<LoadedJob> Load(const std::vector<std::string>& parts) {
  LoadedJob loaded;
  SourceMap sources;
  RETURN_IF_ERROR(ParseSpec(parts[0], "job", "", loaded.spec, sources));
  for (size_t i = 1; i < parts.size(); ++i) {
    ASSIGN_OR_RETURN(const Override change, ParseOverride(parts[i]));
    RETURN_IF_ERROR(ApplyOverride(change, loaded.spec));
    sources.AddOverride(change.path);
  }
  ASSIGN_OR_RETURN(loaded.job, CheckJob(loaded.spec, sources));
  return loaded;
}

void Check(const std::string& input) {
  const absl::StatusOr<LoadedJob> loaded = Load(absl::StrSplit(input, '\0'));
  if (!loaded.ok()) {
    const absl::string_view message = loaded.status().message();
    if (message.empty() || message.find('\n') != absl::string_view::npos) std::abort();
    return;
  }
  v1::JobSpec spec;
  if (!spec.ParseFromString(loaded->spec.SerializeAsString())) std::abort();
  const absl::StatusOr<Job> job = JobFromSpec(spec);
  if (!job.ok() || DescribeJob(*job) != DescribeJob(loaded->job)) std::abort();
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tributary::Check(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
