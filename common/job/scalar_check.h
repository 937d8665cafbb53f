// What holds for every number and every text of a spec, whatever its field.
#ifndef TRIBUTARY_COMMON_JOB_SCALAR_CHECK_H_
#define TRIBUTARY_COMMON_JOB_SCALAR_CHECK_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/status/status.h"
#include "common/job/checks.h"

namespace tributary {

// `path` is the message's own ("" for the JobSpec). Errors: a number that is not finite or that
// fp32 cannot hold; a text that is not UTF-8 (it could not go over the wire) or has control
// characters.
absl::Status CheckScalars(const google::protobuf::Message& message, const std::string& path,
                          const Checks& checks);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_SCALAR_CHECK_H_
