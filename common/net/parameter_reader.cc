#include "common/net/parameter_reader.h"

#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/net/channel.h"
#include "common/net/grpc_status.h"
#include "common/net/messages.h"
#include "tributary/v1/training.grpc.pb.h"

namespace tributary {
namespace {

constexpr std::chrono::seconds kCallDeadline(60);

absl::Status ReadChunk(v1::Shard::StubInterface& shard, const JobIdentity& identity,
                       ElementRange chunk, std::optional<Version>& version,
                       absl::Span<float> values) {
  v1::PullRequest request;
  *request.mutable_header() = MakeHeader(identity, 0);
  *request.mutable_range() = ToProto(chunk);
  if (version.has_value()) request.set_version(static_cast<uint64_t>(*version));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
  v1::PullResponse response;
  RETURN_IF_ERROR(FromGrpcStatus(shard.Pull(&context, request, &response)));
  if (response.parameters().size() != values.size() * sizeof(float)) {
    return absl::InternalError(absl::StrCat("parameters: found ", response.parameters().size(),
                                            " bytes, expected ", values.size() * sizeof(float)));
  }
  std::memcpy(values.data(), response.parameters().data(), response.parameters().size());
  version = static_cast<Version>(response.version());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ParameterSnapshot> ReadParameters(
    const std::vector<std::shared_ptr<grpc::Channel>>& shards, const JobIdentity& identity,
    const Layout& layout, std::optional<Version> version) {
  ParameterSnapshot snapshot;
  snapshot.values.resize(static_cast<size_t>(layout.elements()));
  const auto count = static_cast<ShardId>(shards.size());
  for (ShardId k = 0; k < count; ++k) {
    const auto stub = v1::Shard::NewStub(shards[static_cast<size_t>(k)]);
    for (const ElementRange& chunk : CutIntoChunks(layout.ShardRange(k, count), kChunkElements)) {
      const absl::Status read = ReadChunk(
          *stub, identity, chunk, version,
          absl::MakeSpan(snapshot.values)
              .subspan(static_cast<size_t>(chunk.begin), static_cast<size_t>(chunk.size())));
      if (!read.ok()) {
        return absl::Status(read.code(), absl::StrCat("shard ", k, ": ", read.message()));
      }
    }
  }
  snapshot.version = version.value_or(0);
  return snapshot;
}

}  // namespace tributary
