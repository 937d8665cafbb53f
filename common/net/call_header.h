// What every call of a job carries, and the check of it: which job, which generation, who calls.
#ifndef TRIBUTARY_COMMON_NET_CALL_HEADER_H_
#define TRIBUTARY_COMMON_NET_CALL_HEADER_H_

#include <string>

#include "absl/status/status.h"
#include "common/base/types.h"
#include "tributary/v1/training.pb.h"

namespace tributary {

struct JobIdentity {
  std::string job_id;
  Generation generation = 0;
};

// An id that no other job has: 128 random bits as 32 hexadecimal digits.
std::string NewJobId();

// A random number that is not zero, for a session or an incarnation.
uint64_t NewRandomId();

v1::CallHeader MakeHeader(const JobIdentity& identity, SessionId session);

// FAILED_PRECONDITION with both values for another job or generation.
absl::Status CheckHeader(const v1::CallHeader& header, const JobIdentity& identity);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_NET_CALL_HEADER_H_
