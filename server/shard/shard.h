// One shard: a contiguous range of the parameters and of the optimizer's state, and the step in
// progress on it. Knows nothing of the network; the service calls it from many threads.
//
//   Push(step t, chunk, slots) --> SlotTree of the chunk --> ... all chunks complete
//        --> optimizer: version t  ->  version t + 1 (another buffer)  --> waiters are called
//
// A version's buffer never changes once it is published: readers hold it by shared_ptr for as long
// as they send it. The two newest versions are kept, because shards are at most one step apart.
#ifndef TRIBUTARY_SERVER_SHARD_SHARD_H_
#define TRIBUTARY_SERVER_SHARD_SHARD_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "common/base/types.h"
#include "common/job/job.h"
#include "common/training/batch_plan.h"
#include "common/training/slot_tree.h"
#include "server/shard/optimizer.h"

namespace tributary {

// The parameters of a shard's range at one version.
struct ParameterVersion {
  Version version = 0;
  ElementRange range;
  std::shared_ptr<const std::vector<float>> values;  // range.size() elements

  // `part` lies within `range`.
  absl::Span<const float> Part(ElementRange part) const {
    return absl::MakeConstSpan(*values).subspan(static_cast<size_t>(part.begin - range.begin),
                                                static_cast<size_t>(part.size()));
  }
};

class Shard {
 public:
  struct StepResult {
    Version version = 0;  // after the step
    BatchStatistics statistics;
  };
  // Called once per step, on the thread that completed it. Get has the new version by then; nobody
  // who waits for it is called before this returns.
  using StepCallback = std::function<void(const StepResult&)>;
  using VersionCallback = std::function<void(absl::StatusOr<ParameterVersion>)>;

  // The shard at version 0: initial parameters. `chunk_elements` positive.
  Shard(const Job& job, ShardId shard, ShardId shards, int64_t chunk_elements);

  ElementRange range() const { return range_; }
  const std::vector<ElementRange>& chunks() const { return chunks_; }

  // Opens the shard for pushes; the size of the data set sets the steps and the learning rates.
  // Call once.
  void Begin(const BatchPlan& plan, StepCallback on_step);

  // Adds the sum of a tree node's gradients to the chunk. Idempotent; what belongs to an older step
  // is dropped. Errors: UNAVAILABLE before Begin; INVALID_ARGUMENT for a chunk, node or sample
  // count that is not one; FAILED_PRECONDITION for a step that has not begun or never will.
  // Thread-safe; different chunks do not wait for each other. Applies the step when this was the
  // last piece missing.
  absl::Status Push(Step step, ElementRange chunk, SlotRange node, absl::Span<const float> values,
                    const BatchStatistics& statistics);

  // The newest version, or one of the two newest. Errors: OUT_OF_RANGE for one that is gone (the
  // step after it is complete on every shard) or does not exist yet.
  absl::StatusOr<ParameterVersion> Get(std::optional<Version> version) const;

  // Calls back once with version `version` as soon as it exists and its StepCallback has returned
  // (at once if so; OUT_OF_RANGE if it is gone already), or with the status that Stop was given.
  void WhenVersion(Version version, VersionCallback callback);

  // Ends all waiting with `status`, now and later.
  void Stop(const absl::Status& status);

  // The optimizer's state, [range().size()] each. Not to be called while steps are applied.
  std::vector<Optimizer::State> optimizer_state() { return optimizer_->state(); }

 private:
  // One chunk's sums of the step in progress.
  struct Chunk {
    Chunk(ElementRange range_in, int32_t slots) : range(range_in), tree(slots, range_in.size()) {}
    const ElementRange range;
    absl::Mutex mutex;
    Step step ABSL_GUARDED_BY(mutex) = 0;
    SlotTree tree ABSL_GUARDED_BY(mutex);
  };

  absl::Status CheckPush(Step step, SlotRange node, const BatchStatistics& statistics) const;
  absl::StatusOr<Chunk*> FindChunk(ElementRange range);
  void ApplyStep();
  // Calls those who wait for it.
  void Announce(const ParameterVersion& published);
  std::shared_ptr<std::vector<float>> TakeBuffer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<ParameterVersion> GetLocked(std::optional<Version> version) const
      ABSL_SHARED_LOCKS_REQUIRED(mutex_);

  const Job job_;
  const ElementRange range_;
  const int64_t chunk_elements_;
  const std::vector<ElementRange> chunks_;
  const std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::unique_ptr<Chunk>> chunk_states_;

  // Written by Begin before begun_ is set.
  std::optional<BatchPlan> plan_;
  StepCallback on_step_;
  std::atomic<bool> begun_ = false;

  std::atomic<Version> version_ = 0;
  std::atomic<int64_t> complete_chunks_ = 0;
  // Updates applied (steps that were not skipped); touched by the thread that completes a step.
  int64_t updates_ = 0;

  mutable absl::Mutex mutex_;
  // [0] the newest version, [1] the one before (empty at first).
  ParameterVersion versions_[2] ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<std::vector<float>>> buffers_ ABSL_GUARDED_BY(mutex_);
  // The newest version whose StepCallback has returned.
  Version announced_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::pair<Version, VersionCallback>> waiters_ ABSL_GUARDED_BY(mutex_);
  absl::Status stopped_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SHARD_SHARD_H_
