#include "worker/ps_client/grpc_parameter_client.h"

#include <algorithm>
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
                    .chunks = CutIntoChunks(range, fetched.chunk_elements),
                    .max_message_bytes = 0};
    RETURN_IF_ERROR(session_.Explain(Open(shard, range)));
    shards_.push_back(std::move(shard));
  }
  push_pull_.emplace(shards_, session_);
  return absl::OkStatus();
}

absl::Status GrpcParameterClient::Open(ShardPeer& shard, ElementRange range) {
  v1::OpenRequest request;
  *request.mutable_header() = session_.Header();
  request.set_layout_fingerprint(session_.fetched().job.job.model.layout.fingerprint());
  request.set_max_message_bytes(kMaxMessageBytes);
  v1::OpenResponse response;
  const absl::Status status = CallWithRetry(
      Patience(shard), session_.ended(),
      [&](grpc::ClientContext& context) { return shard.stub->Open(&context, request, &response); });
  if (!status.ok()) {
    return absl::Status(status.code(), absl::StrCat(shard.name, ": ", status.message()));
  }
  // What it says is not believed beyond what this side would send.
  shard.max_message_bytes =
      static_cast<int64_t>(std::min<uint64_t>(response.max_message_bytes(), kMaxMessageBytes));
  ASSIGN_OR_RETURN(const ElementRange found, FromProto(response.range()));
  if (found == range) return CheckMessageSize(shard, session_.fetched().job.job.transfer.push);
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
  const WireType type = session_.fetched().job.job.transfer.pull;
  request.set_type(ToProto(type));
  v1::PullResponse response;
  for (const ShardPeer& shard : shards_) {
    for (const ElementRange& chunk : shard.chunks) {
      *request.mutable_range() = ToProto(chunk);
      RETURN_IF_ERROR(session_.Explain(
          CallWithRetry(Patience(shard), session_.ended(), [&](grpc::ClientContext& context) {
            return shard.stub->Pull(&context, request, &response);
          })));
      RETURN_IF_ERROR(DecodeParameters(
          shard, type, response.parameters(),
          parameters.subspan(static_cast<size_t>(chunk.begin), static_cast<size_t>(chunk.size()))));
    }
  }
  return absl::OkStatus();
}

absl::Status GrpcParameterClient::Push(Step step, absl::Span<const NodeGradient> gradients) {
  v1::PushPullRequest request;
  v1::PushPullResponse response;
  for (const ShardPeer& shard : shards_) {
    for (const ElementRange& chunk : shard.chunks) {
      for (size_t sent = 0; sent < gradients.size();) {
        sent += FillPushRequest(session_.Header(), step, shard, chunk, gradients.subspan(sent),
                                request);
        RETURN_IF_ERROR(session_.Explain(
            CallWithRetry(Patience(shard), session_.ended(), [&](grpc::ClientContext& context) {
              return shard.stub->PushPull(&context, request, &response);
            })));
      }
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
