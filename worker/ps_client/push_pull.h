// One step's push and pull: a call for every chunk of every shard, all under way together.
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
  int64_t max_message_bytes = 0;  // that it takes
};

// The request for one chunk with as many gradients, from the first on, as one message to the shard
// holds: returns how many. At least one; CheckMessageSize has seen to it that it fits.
size_t FillPushRequest(const v1::CallHeader& header, Step step, const ShardPeer& shard,
                       ElementRange chunk, absl::Span<const NodeGradient> gradients,
                       v1::PushPullRequest& request);

// Parameters as they arrived, in the job's pull type, to their place. INTERNAL for another size.
absl::Status DecodeParameters(const ShardPeer& shard, WireType pull, absl::string_view bytes,
                              absl::Span<float> out);

// A chunk of one gradient fits a message that the shard takes. FAILED_PRECONDITION with both sizes.
absl::Status CheckMessageSize(const ShardPeer& shard, WireType push);

// Used by one thread. Its messages are kept from step to step, so that their memory is.
class PushPull {
 public:
  // `shards` and `session` outlive it; the session has the job.
  PushPull(const std::vector<ShardPeer>& shards, JobSession& session);
  ~PushPull();

  // Sends, waits, fills `parameters` (the whole flat vector). Gradients that are more than one
  // message holds go ahead in messages that ask for nothing. Returns the next order, or nullopt if
  // shard 0 gave none. Errors as ParameterClient::PushPull; no call is under way any more then.
  absl::StatusOr<std::optional<Work>> Run(Step step, absl::Span<const NodeGradient> gradients,
                                          absl::Span<float> parameters);

 private:
  struct Call;

  // Fills the call with the next of the gradients.
  void Fill(Call& call, Step step, absl::Span<const NodeGradient> gradients) const;
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
