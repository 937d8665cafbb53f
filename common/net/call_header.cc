#include "common/net/call_header.h"

#include <random>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tributary {

uint64_t NewRandomId() {
  std::random_device random;
  uint64_t id = 0;
  while (id == 0) id = uint64_t{random()} << 32 | random();
  return id;
}

std::string NewJobId() {
  return absl::StrFormat("%016x%016x", NewRandomId(), NewRandomId());
}

v1::CallHeader MakeHeader(const JobIdentity& identity, SessionId session) {
  v1::CallHeader header;
  header.set_job_id(identity.job_id);
  header.set_generation(identity.generation);
  header.set_session(session);
  return header;
}

absl::Status CheckHeader(const v1::CallHeader& header, const JobIdentity& identity) {
  if (header.job_id() != identity.job_id) {
    // What a peer sent stands in a log line: not all of it, and nothing that ends the line.
    constexpr size_t kMostShown = 64;
    return absl::FailedPreconditionError(absl::StrCat(
        "header.job_id: found \"", absl::CHexEscape(header.job_id().substr(0, kMostShown)),
        "\", expected \"", identity.job_id, "\": the call is for another job"));
  }
  if (header.generation() != identity.generation) {
    return absl::FailedPreconditionError(absl::StrCat(
        "header.generation: found ", header.generation(), ", expected ", identity.generation));
  }
  return absl::OkStatus();
}

}  // namespace tributary
