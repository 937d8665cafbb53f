// A run's result as JSON: what --json writes, and what shard 0 tells the launcher.
//
//   {"test_accuracy": 0.9123, "test_count": 10000, "test_correct": 9123, "test_loss": 0.25,
//    "steps": 938, "images": 60000, "seconds": 1.5, "images_per_second": 40000.0}
//
// A number that is not finite is null, as JSON has none.
#ifndef TRIBUTARY_COMMON_FORMATS_RESULT_JSON_H_
#define TRIBUTARY_COMMON_FORMATS_RESULT_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "common/training/run_result.h"

namespace tributary {

std::string FormatResultJson(const RunResult& result);

// Errors: INVALID_ARGUMENT with the key.
absl::StatusOr<RunResult> ParseResultJson(const std::string& text);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_FORMATS_RESULT_JSON_H_
