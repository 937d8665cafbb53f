// Reads the parameters of a job from its shards: what the end of a job and `tributary export` do.
#ifndef TRIBUTARY_COMMON_NET_PARAMETER_READER_H_
#define TRIBUTARY_COMMON_NET_PARAMETER_READER_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/types.h"
#include "common/model/layout.h"
#include "common/net/call_header.h"
#include "grpcpp/channel.h"

namespace tributary {

struct ParameterSnapshot {
  Version version = 0;
  std::vector<float> values;  // the whole flat vector
};

// Reads version `version` of every shard; without one, the newest version of shard 0, and the same
// of the others. `shards`: a channel to shard k of S at [k]. A shard keeps its two newest versions:
// while a job trains quickly the version may be gone before the last shard is read. Errors:
// OUT_OF_RANGE for that (try again); UNAVAILABLE and others with the shard.
absl::StatusOr<ParameterSnapshot> ReadParameters(
    const std::vector<std::shared_ptr<grpc::Channel>>& shards, const JobIdentity& identity,
    const Layout& layout, std::optional<Version> version);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_NET_PARAMETER_READER_H_
