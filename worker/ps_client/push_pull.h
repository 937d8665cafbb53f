// One step's push and pull: a call for every chunk of every shard, all under way together, since a
// shard answers when it has the gradients of all its chunks.
#ifndef TRIBUTARY_WORKER_PS_CLIENT_PUSH_PULL_H_
#define TRIBUTARY_WORKER_PS_CLIENT_PUSH_PULL_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "common/net/retry.h"
#include "tributary/v1/training.grpc.pb.h"
#include "worker/ps_client/job_session.h"
#include "worker/trainer/parameter_client.h"

namespace tributary {

// A shard as a worker sees it.
struct ShardPeer {
  std::string name;  // "shard 1 at host:port", for people
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Shard::Stub> stub;
  std::vector<ElementRange> chunks;
};

// The request for one chunk.
void FillPushRequest(const v1::CallHeader& header, Step step, ElementRange chunk, bool pull,
                     absl::Span<const NodeGradient> gradients, v1::PushPullRequest& request);

// Used by one thread. Its messages are kept from step to step, so that their memory is.
class PushPull {
 public:
  // `shards` and `session` outlive it.
  PushPull(const std::vector<ShardPeer>& shards, JobSession& session);
  ~PushPull();

  // Sends, waits, fills `parameters` (the whole flat vector). Returns the next order, or nullopt if
  // shard 0 gave none. Errors as ParameterClient::PushPull; no call is under way any more then.
  absl::StatusOr<std::optional<Work>> Run(Step step, absl::Span<const NodeGradient> gradients,
                                          absl::Span<float> parameters);

 private:
  struct Call;

  void Start(Call& call);
  // The calls that have ended since the last time; waits for one.
  std::vector<Call*> TakeEnded();
  absl::Status TakeResponse(const Call& call, Step step, absl::Span<float> parameters,
                            std::optional<Work>& next) const;
  void CancelAll();

  JobSession& session_;
  std::vector<std::unique_ptr<Call>> calls_;

  absl::Mutex mutex_;
  std::vector<Call*> ended_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_PS_CLIENT_PUSH_PULL_H_
