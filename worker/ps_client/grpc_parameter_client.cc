#include "worker/ps_client/grpc_parameter_client.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/net/channel.h"
#include "common/net/messages.h"
#include "common/net/retry.h"

namespace tributary {

absl::Status GrpcParameterClient::Connect(const DataSummary& data, JobSession::Adopt adopt) {
  ASSIGN_OR_RETURN(std::vector<std::string> addresses, session_.Join(data, std::move(adopt)));
  const FetchedJob& fetched = session_.fetched();
  if (addresses.size() != static_cast<size_t>(fetched.shards)) {
    return absl::InvalidArgumentError(
        absl::StrCat("shard_address: found ", addresses.size(), ", expected ", fetched.shards));
  }
  // Shard 0 has been reached at this address already; what it advertises may not be for this host.
  addresses[0] = session_.options().coordinator;
  const Layout& layout = fetched.job.job.model.layout;
  for (ShardId k = 0; k < fetched.shards; ++k) {
    const std::string& address = addresses[static_cast<size_t>(k)];
    const ElementRange range = layout.ShardRange(k, fetched.shards);
    const std::shared_ptr<grpc::Channel> channel = CreateChannel(address);
    ShardPeer shard{.name = absl::StrCat("shard ", k, " at ", address),
                    .channel = channel,
                    .stub = v1::Shard::NewStub(channel),
                    .chunks = CutIntoChunks(range, fetched.chunk_elements)};
    RETURN_IF_ERROR(session_.Explain(Open(shard, range)));
    shards_.push_back(std::move(shard));
  }
  push_pull_.emplace(shards_, session_);
  return absl::OkStatus();
}

absl::Status GrpcParameterClient::Open(const ShardPeer& shard, ElementRange range) {
  v1::OpenRequest request;
  *request.mutable_header() = session_.Header();
  request.set_layout_fingerprint(session_.fetched().job.job.model.layout.fingerprint());
  v1::OpenResponse response;
  const absl::Status status = CallWithRetry(
      Patience(shard), session_.ended(),
      [&](grpc::ClientContext& context) { return shard.stub->Open(&context, request, &response); });
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat(shard.name, ": ", status.message()));
  }
  ASSIGN_OR_RETURN(const ElementRange found, FromProto(response.range()));
  if (found == range) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(shard.name, ": range: found [", found.begin,
                                                    ", ", found.end, "), expected [", range.begin,
                                                    ", ", range.end, ")"));
}

absl::StatusOr<Work> GrpcParameterClient::NextWork(absl::Span<const EvaluationResult> results) {
  return session_.NextWork(results);
}

absl::Status GrpcParameterClient::Pull(Version version, absl::Span<float> parameters) {
  v1::PullRequest request;
  *request.mutable_header() = session_.Header();
  request.set_version(static_cast<uint64_t>(version));
  v1::PullResponse response;
  for (const ShardPeer& shard : shards_) {
    for (const ElementRange& chunk : shard.chunks) {
      *request.mutable_range() = ToProto(chunk);
      RETURN_IF_ERROR(session_.Explain(
          CallWithRetry(Patience(shard), session_.ended(), [&](grpc::ClientContext& context) {
            return shard.stub->Pull(&context, request, &response);
          })));
      const auto bytes = static_cast<size_t>(chunk.size()) * sizeof(float);
      if (response.parameters().size() != bytes) {
        return absl::InternalError(absl::StrCat(
            shard.name, ": found ", response.parameters().size(), " bytes, expected ", bytes));
      }
      std::memcpy(parameters.data() + chunk.begin, response.parameters().data(), bytes);
    }
  }
  return absl::OkStatus();
}

absl::Status GrpcParameterClient::Push(Step step, absl::Span<const NodeGradient> gradients) {
  v1::PushPullRequest request;
  v1::PushPullResponse response;
  for (const ShardPeer& shard : shards_) {
    for (const ElementRange& chunk : shard.chunks) {
      FillPushRequest(session_.Header(), step, chunk, false, gradients, request);
      RETURN_IF_ERROR(session_.Explain(
          CallWithRetry(Patience(shard), session_.ended(), [&](grpc::ClientContext& context) {
            return shard.stub->PushPull(&context, request, &response);
          })));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Work> GrpcParameterClient::PushPull(Step step,
                                                   absl::Span<const NodeGradient> gradients,
                                                   absl::Span<float> parameters) {
  ASSIGN_OR_RETURN(const std::optional<Work> next, push_pull_->Run(step, gradients, parameters));
  if (next.has_value()) return *next;
  return session_.NextWork({});
}

}  // namespace tributary
