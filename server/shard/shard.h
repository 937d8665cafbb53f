// One shard: a contiguous range of the parameters and of the optimizer's state, and the step in
// progress on it. Knows nothing of the network; the service calls it from many threads.
//
//   Push(step t, chunk, node) --values-----> SlotTree of the chunk --complete--+
//                             --statistics-> SlotTree of the step  --complete--+--> optimizer:
//   chunk at version t -> t + 1 (another buffer) --> who waits for the chunk is called
//   ... every chunk at t + 1 --> version t + 1   --> who waits for the version is called
//
// A chunk does not wait for the others: what it needs of the rest of the gradient is whether the
// step is left out (not finite), and that is in the statistics. A chunk whose last sum arrives
// after them is summed and updated in one pass, without storing the sum.
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
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "common/base/shared_bytes.h"
#include "common/base/types.h"
#include "common/codec/value_source.h"
#include "common/codec/wire_type.h"
#include "common/job/job.h"
#include "common/training/batch_plan.h"
#include "common/training/slot_tree.h"
#include "server/shard/optimizer.h"

namespace tributary {

// The parameters of a shard's range at one version, or of a chunk of it.
struct ParameterVersion {
  struct Buffer {
    std::vector<float> values;  // range.size() elements
    // The same in the job's pull type, as it goes over the wire; empty for fp32.
    std::string encoded;
  };

  Version version = 0;
  ElementRange range;
  std::shared_ptr<const Buffer> buffer;

  // `part` lies within `range` in both.
  absl::Span<const float> Part(ElementRange part) const {
    return absl::MakeConstSpan(buffer->values)
        .subspan(static_cast<size_t>(part.begin - range.begin), static_cast<size_t>(part.size()));
  }
  // What goes over the wire of it: in fp32, or in the job's pull type, where the part begins at a
  // multiple of kShardUnit and ends at one or with `range`.
  SharedBytes EncodedPart(WireType type, ElementRange part) const;
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
  int64_t chunk_elements() const { return chunk_elements_; }
  WireType push_type() const { return job_.transfer.push; }
  WireType pull_type() const { return job_.transfer.pull; }
  const std::vector<ElementRange>& chunks() const { return chunks_; }

  // Opens the shard for pushes; the size of the data set sets the steps and the learning rates.
  // Call once.
  void Begin(const BatchPlan& plan, StepCallback on_step);

  // What a push brings of a tree node.
  struct NodePush {
    SlotRange node;
    // The sum of the node's gradients in the chunk: chunk.size() elements. Null: statistics alone.
    const ValueSource* values = nullptr;
    // Of the node's slots, over the whole gradient. Absent: not known yet; once for each node.
    std::optional<BatchStatistics> statistics;
  };

  // Adds to the chunk and to the step. Idempotent; what belongs to an older step is dropped.
  // Errors: UNAVAILABLE before Begin; INVALID_ARGUMENT for a chunk, node or sample count that is
  // not one; FAILED_PRECONDITION for a step that has not begun or never will. Thread-safe;
  // different chunks do not wait for each other. Updates the chunk, or all that are complete, when
  // this was the last piece missing.
  absl::Status Push(Step step, ElementRange chunk, const NodePush& push);

  // INVALID_ARGUMENT for a range that is not a chunk.
  absl::Status CheckChunk(ElementRange chunk) const { return FindChunk(chunk).status(); }

  // The newest version, or one of the two newest. Errors: OUT_OF_RANGE for one that is gone (the
  // step after it is complete on every shard) or does not exist yet.
  absl::StatusOr<ParameterVersion> Get(std::optional<Version> version) const;

  // Calls back once with version `version` as soon as it exists and its StepCallback has returned
  // (at once if so; OUT_OF_RANGE if it is gone already), or with the status that Stop was given.
  void WhenVersion(Version version, VersionCallback callback);
  // The same as soon as the one chunk has the version: of the result that chunk alone may be read.
  // INVALID_ARGUMENT for a chunk that is not one.
  void WhenChunk(Version version, ElementRange chunk, VersionCallback callback);

  // Ends all waiting with `status`, now and later.
  void Stop(const absl::Status& status);

  // The optimizer's state, [range().size()] each. Not to be called while steps are applied.
  std::vector<Optimizer::State> optimizer_state() { return optimizer_->state(); }

 private:
  struct Waiter {
    Version version = 0;
    VersionCallback callback;
  };

  // One chunk's sums of the step in progress.
  struct Chunk {
    Chunk(ElementRange range_in, int32_t slots) : range(range_in), tree(slots, range_in.size()) {}
    const ElementRange range;
    absl::Mutex mutex;
    Step step ABSL_GUARDED_BY(mutex) = 0;  // in progress; equal to the chunk's version
    SlotTree tree ABSL_GUARDED_BY(mutex);
    // The step whose tree is complete but not applied yet; -1: none.
    std::atomic<Step> complete = -1;

    // Guarded by the shard's mutex_.
    Version version = 0;
    std::vector<Waiter> waiters;
  };

  // What is done with every chunk of a step, known once its statistics are complete.
  struct Decision {
    BatchStatistics statistics;
    double learning_rate = 0;
    ParameterVersion before;
    std::shared_ptr<ParameterVersion::Buffer> after;  // null: the step is left out
  };

  absl::Status CheckPush(Step step, SlotRange node) const;
  absl::Status CheckStatistics(Step step, SlotRange node, const BatchStatistics& found) const;
  absl::StatusOr<Chunk*> FindChunk(ElementRange range) const;

  void AddStatistics(Step step, SlotRange node, const BatchStatistics& statistics);
  void Decide(Step step, const BatchStatistics& statistics);
  void AddValues(Step step, Chunk& chunk, SlotRange node, const ValueSource& values);
  bool IsDecided(Step step) const { return decided_.load() == step; }
  // Updates the chunk with a tree that is complete, or would be with these values.
  void ApplyStored(Chunk& chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(chunk.mutex);
  void ApplyWith(Chunk& chunk, SlotRange node, const ValueSource& values)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(chunk.mutex);
  void Update(const Chunk& chunk, int64_t first, absl::Span<const float> sum);
  void Advance(Chunk& chunk) ABSL_EXCLUSIVE_LOCKS_REQUIRED(chunk.mutex);
  // The chunk has the version after `step`: tells those who wait for it.
  void Announce(Step step, Chunk& chunk);
  void FinishStep(Step step);
  // Moves those who wait for `version` out of `waiters`.
  static std::vector<Waiter> TakeReady(std::vector<Waiter>& waiters, Version version);
  std::shared_ptr<ParameterVersion::Buffer> MakeBuffer() const;
  std::shared_ptr<ParameterVersion::Buffer> TakeBuffer() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Fills in what goes over the wire of the elements [part), counted from the start of the range;
  // a part begins at a multiple of 64 elements.
  void EncodePart(ParameterVersion::Buffer& buffer, ElementRange part) const;
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
  std::atomic<int64_t> chunks_done_ = 0;
  // Updates applied (steps that were not left out); touched while a step is decided.
  int64_t updates_ = 0;

  absl::Mutex statistics_mutex_;
  Step statistics_step_ ABSL_GUARDED_BY(statistics_mutex_) = 0;
  SlotTree statistics_ ABSL_GUARDED_BY(statistics_mutex_);  // of no elements
  // Written before decided_ names its step; not written again while a chunk is still at that step.
  Decision decision_;
  std::atomic<Step> decided_ = -1;

  mutable absl::Mutex mutex_;
  // [0] the newest version, [1] the one before (empty at first).
  ParameterVersion versions_[2] ABSL_GUARDED_BY(mutex_);
  // The version in progress: of use where a chunk has it already.
  ParameterVersion next_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<ParameterVersion::Buffer>> buffers_ ABSL_GUARDED_BY(mutex_);
  // The newest version whose StepCallback has returned.
  Version announced_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<Waiter> waiters_ ABSL_GUARDED_BY(mutex_);
  absl::Status stopped_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SHARD_SHARD_H_
