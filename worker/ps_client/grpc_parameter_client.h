// ParameterClient over gRPC: a session with the coordinator and a connection to every shard.
#ifndef TRIBUTARY_WORKER_PS_CLIENT_GRPC_PARAMETER_CLIENT_H_
#define TRIBUTARY_WORKER_PS_CLIENT_GRPC_PARAMETER_CLIENT_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "worker/ps_client/job_session.h"
#include "worker/ps_client/push_pull.h"
#include "worker/trainer/parameter_client.h"

namespace tributary {

class GrpcParameterClient final : public ParameterClient {
 public:
  // `session` has fetched the job and outlives the client.
  explicit GrpcParameterClient(JobSession& session) : session_(session) {}

  // Joins the job, waits until it begins and opens every shard. `adopt` as JobSession::Join. To be
  // called once, before the functions below.
  absl::Status Connect(const DataSummary& data, JobSession::Adopt adopt);

  absl::StatusOr<Work> NextWork(absl::Span<const EvaluationResult> results) override;
  absl::Status Pull(Version version, absl::Span<float> parameters) override;
  absl::Status Push(Step step, absl::Span<const NodeGradient> gradients) override;
  absl::StatusOr<Work> PushPull(Step step, absl::Span<const NodeGradient> gradients,
                                absl::Span<float> parameters) override;

 private:
  absl::Status Open(ShardPeer& shard, ElementRange range);
  RetryOptions Patience(const ShardPeer& shard) const {
    return {
        .peer = shard.name, .patience = session_.options().peer_timeout, .channel = shard.channel};
  }

  JobSession& session_;
  std::vector<ShardPeer> shards_;
  std::optional<class PushPull> push_pull_;
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_PS_CLIENT_GRPC_PARAMETER_CLIENT_H_
