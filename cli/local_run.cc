#include "cli/local_run.h"

#include "absl/status/status.h"

namespace tributary {

absl::StatusOr<RunResult> RunLocally(const Job&, const LocalRunOptions&) {
  return absl::UnimplementedError("training in this process is not there yet");
}

}  // namespace tributary
