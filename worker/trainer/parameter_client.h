// What the trainer asks of the servers. worker/ps_client implements it over gRPC; local mode in
// this process. The trainer knows no network.
#ifndef TRIBUTARY_WORKER_TRAINER_PARAMETER_CLIENT_H_
#define TRIBUTARY_WORKER_TRAINER_PARAMETER_CLIENT_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/types.h"
#include "common/codec/encoded_vector.h"
#include "common/training/work.h"

namespace tributary {

// The sum of the gradients of a summation-tree node's slots (common/training/slot_tree.h), over the
// whole flat vector, in the job's push type.
struct NodeGradient {
  SlotRange slots;
  EncodedVector values;
  BatchStatistics statistics;
};

// Every call waits as long as it takes, or fails with CANCELLED when the worker is asked to stop,
// ABORTED when the job has failed, UNAVAILABLE when a server is gone for good. `parameters` is the
// whole flat vector, the caller's, decoded from the job's pull type; after an error its content is
// undefined.
//
// Pull and Push may be called while another thread is in any of the functions; NextWork and
// PushPull belong to one thread.
class ParameterClient {
 public:
  virtual ~ParameterClient() = default;

  // Delivers the results of an evaluation and asks what to do next.
  virtual absl::StatusOr<Work> NextWork(absl::Span<const EvaluationResult> results) = 0;

  // The parameters of `version`. OUT_OF_RANGE: it is gone, as its step is complete everywhere.
  virtual absl::Status Pull(Version version, absl::Span<float> parameters) = 0;

  // Pushes to every shard without waiting for what follows.
  virtual absl::Status Push(Step step, absl::Span<const NodeGradient> gradients) = 0;

  // Pushes to every shard, waits for version step + 1 and returns it in `parameters`, and what to
  // do next. OUT_OF_RANGE: others have gone on without this worker; ask for work.
  virtual absl::StatusOr<Work> PushPull(Step step, absl::Span<const NodeGradient> gradients,
                                        absl::Span<float> parameters) = 0;
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_TRAINER_PARAMETER_CLIENT_H_
