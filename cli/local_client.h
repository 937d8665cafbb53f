// The servers of local mode: the coordinator's decisions and one shard in this process, without a
// network. The slots, the tree and the optimizer are those of a cluster, and so are the bits.
#ifndef TRIBUTARY_CLI_LOCAL_CLIENT_H_
#define TRIBUTARY_CLI_LOCAL_CLIENT_H_

#include <functional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "common/job/job.h"
#include "common/training/run_result.h"
#include "server/coordinator/coordinator.h"
#include "server/shard/shard.h"
#include "tributary/v1/training.pb.h"
#include "worker/trainer/parameter_client.h"

namespace tributary {

// One thread trains with it; Status may be asked by others.
class LocalClient final : public ParameterClient {
 public:
  // `cancelled` is asked before every step, on the thread that trains; true ends the run with
  // CANCELLED.
  LocalClient(const Job& job, std::function<bool()> cancelled);

  // The job begins with this data.
  absl::Status Begin(const DataSummary& data);

  absl::StatusOr<Work> NextWork(absl::Span<const EvaluationResult> results) override;
  absl::Status Pull(Version version, absl::Span<float> parameters) override;
  absl::Status Push(Step step, absl::Span<const NodeGradient> gradients) override;
  absl::StatusOr<Work> PushPull(Step step, absl::Span<const NodeGradient> gradients,
                                absl::Span<float> parameters) override;

  v1::JobStatus Status() const;
  // Of a job that is done.
  RunResult Result() const;
  // The newest version.
  ParameterVersion Parameters() const;
  std::vector<Optimizer::State> optimizer_state() { return shard_.optimizer_state(); }

 private:
  const Job job_;
  const std::function<bool()> cancelled_;
  Shard shard_;
  mutable absl::Mutex mutex_;
  Coordinator coordinator_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tributary

#endif  // TRIBUTARY_CLI_LOCAL_CLIENT_H_
