// Reads a text-format file into a message; errors name file, line and field.
#ifndef TRIBUTARY_COMMON_JOB_SPEC_READER_H_
#define TRIBUTARY_COMMON_JOB_SPEC_READER_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/job/source_map.h"

namespace tributary {

// The whole content of `path`. Errors: NOT_FOUND or INVALID_ARGUMENT, whose message is what was
// found and what is allowed ("found a directory, allowed ..."), without a place: the caller knows
// whether the user named the file on the command line or in a field.
absl::StatusOr<std::string> ReadTextFile(const std::string& path, int64_t max_bytes);

// Parses the text of `file` into `message` and adds the places of its fields to `sources`. `root`
// is the message's path in the JobSpec: "" or "model".
absl::Status ParseSpec(const std::string& text, const std::string& file, const std::string& root,
                       google::protobuf::Message& message, SourceMap& sources);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_SPEC_READER_H_
