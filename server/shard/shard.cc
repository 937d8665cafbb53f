#include "server/shard/shard.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/codec/encode.h"
#include "common/codec/encoded_vector.h"
#include "common/codec/wire_type.h"
#include "common/model/initialize.h"
#include "server/shard/learning_rate.h"

namespace tributary {

// What is encoded by itself is whole blocks.
static_assert(kShardUnit % kInt8Block == 0 && SlotTree::kPieceElements % kInt8Block == 0);

SharedBytes ParameterVersion::EncodedPart(WireType type, ElementRange part) const {
  if (type == WireType::kFp32) return {AsBytes(Part(part)), buffer};
  const ElementRange within{part.begin - range.begin, part.end - range.begin};
  return {tributary::EncodedPart(type, buffer->encoded, within), buffer};
}

std::vector<Shard::Waiter> Shard::TakeReady(std::vector<Waiter>& waiters, Version version) {
  const auto ready =
      std::stable_partition(waiters.begin(), waiters.end(),
                            [version](const Waiter& waiter) { return waiter.version != version; });
  std::vector<Waiter> taken(std::make_move_iterator(ready), std::make_move_iterator(waiters.end()));
  waiters.erase(ready, waiters.end());
  return taken;
}

Shard::Shard(const Job& job, ShardId shard, ShardId shards, int64_t chunk_elements)
    : job_(job),
      range_(job.model.layout.ShardRange(shard, shards)),
      chunk_elements_(chunk_elements),
      chunks_(CutIntoChunks(range_, chunk_elements)),
      optimizer_(CreateOptimizer(job.optimizer, job.model.layout, range_)),
      statistics_(job.training.slots, 0) {
  for (const ElementRange& chunk : chunks_) {
    chunk_states_.push_back(std::make_unique<Chunk>(chunk, job.training.slots));
  }
  const std::shared_ptr<ParameterVersion::Buffer> buffer = MakeBuffer();
  InitializeParameters(job.model, job.seed, range_, absl::MakeSpan(buffer->values));
  EncodePart(*buffer, {0, range_.size()});
  absl::MutexLock lock(&mutex_);
  buffers_.push_back(buffer);
  versions_[0] = {.version = 0, .range = range_, .buffer = buffer};
}

std::shared_ptr<ParameterVersion::Buffer> Shard::MakeBuffer() const {
  auto buffer = std::make_shared<ParameterVersion::Buffer>();
  buffer->values.resize(static_cast<size_t>(range_.size()));
  if (job_.transfer.pull != WireType::kFp32) {
    buffer->encoded.resize(static_cast<size_t>(EncodedBytes(job_.transfer.pull, range_.size())));
  }
  return buffer;
}

void Shard::EncodePart(ParameterVersion::Buffer& buffer, ElementRange part) const {
  const WireType type = job_.transfer.pull;
  if (type == WireType::kFp32) return;
  // Parameters that the type cannot hold come out as infinities, and the loss shows it.
  Encode(type,
         absl::MakeConstSpan(buffer.values)
             .subspan(static_cast<size_t>(part.begin), static_cast<size_t>(part.size())),
         buffer.encoded.data() + EncodedBytes(type, part.begin));
}

void Shard::Begin(const BatchPlan& plan, StepCallback on_step) {
  plan_ = plan;
  on_step_ = std::move(on_step);
  begun_.store(true, std::memory_order_release);
}

absl::Status Shard::Push(Step step, ElementRange chunk_range, const NodePush& push) {
  RETURN_IF_ERROR(CheckPush(step, push.node));
  ASSIGN_OR_RETURN(Chunk * chunk, FindChunk(chunk_range));
  if (push.statistics.has_value()) {
    RETURN_IF_ERROR(CheckStatistics(step, push.node, *push.statistics));
    AddStatistics(step, push.node, *push.statistics);
  }
  if (push.values != nullptr) AddValues(step, *chunk, push.node, *push.values);
  return absl::OkStatus();
}

void Shard::AddStatistics(Step step, SlotRange node, const BatchStatistics& statistics) {
  {
    absl::MutexLock lock(&statistics_mutex_);
    if (step < statistics_step_ || !statistics_.Add(node, absl::Span<const float>(), statistics))
      return;
    if (!statistics_.complete()) return;
    // Nothing else can come here before every chunk has been updated: further statistics of this
    // step are repeats, and the next step has not begun.
    Decide(step, statistics_.nodes()[0].statistics);
    statistics_.Reset();
    statistics_step_ = step + 1;
  }
  // First chunks first: their layers are the first that need them.
  for (const std::unique_ptr<Chunk>& chunk : chunk_states_) {
    // A chunk that is not complete now is updated by whoever completes it: that thread sets
    // `complete` and then looks at decided_, this one the other way round.
    if (chunk->complete.load() != step) continue;
    {
      absl::MutexLock lock(&chunk->mutex);
      if (chunk->step != step) continue;
      ApplyStored(*chunk);
    }
    Announce(step, *chunk);
  }
}

void Shard::Decide(Step step, const BatchStatistics& statistics) {
  decision_.statistics = statistics;
  decision_.learning_rate = LearningRateAt(job_.learning_rate, *plan_, step);
  {
    absl::MutexLock lock(&mutex_);
    decision_.before = versions_[0];
    decision_.after = statistics.not_finite ? nullptr : TakeBuffer();
    // A step that is left out has a version all the same; its parameters are those before.
    next_ = {.version = step + 1, .range = range_, .buffer = decision_.after};
    if (statistics.not_finite) next_.buffer = decision_.before.buffer;
  }
  decided_.store(step);
}

void Shard::AddValues(Step step, Chunk& chunk, SlotRange node, const ValueSource& values) {
  {
    absl::MutexLock lock(&chunk.mutex);
    if (step < chunk.step) return;
    if (IsDecided(step) && chunk.tree.Completes(node)) {
      ApplyWith(chunk, node, values);
    } else {
      if (!chunk.tree.Add(node, values, {}) || !chunk.tree.complete()) return;
      chunk.complete.store(step);
      if (!IsDecided(step)) return;
      ApplyStored(chunk);
    }
  }
  Announce(step, chunk);
}

void Shard::ApplyStored(Chunk& chunk) {
  const absl::Span<const float> sum = chunk.tree.nodes()[0].values;
  for (size_t first = 0; first < sum.size(); first += SlotTree::kPieceElements) {
    Update(chunk, static_cast<int64_t>(first), sum.subspan(first, SlotTree::kPieceElements));
  }
  Advance(chunk);
}

void Shard::ApplyWith(Chunk& chunk, SlotRange node, const ValueSource& values) {
  chunk.tree.VisitSum(
      node, values, [&](int64_t first, absl::Span<const float> sum) { Update(chunk, first, sum); });
  Advance(chunk);
}

void Shard::Update(const Chunk& chunk, int64_t first, absl::Span<const float> sum) {
  if (decision_.after == nullptr) return;
  const int64_t begin = chunk.range.begin - range_.begin + first;
  const ElementRange part{begin, begin + static_cast<int64_t>(sum.size())};
  const absl::Span<float> after =
      absl::MakeSpan(decision_.after->values).subspan(static_cast<size_t>(part.begin), sum.size());
  optimizer_->Apply(part, sum, decision_.statistics.samples, decision_.learning_rate, updates_,
                    decision_.before.Part({range_.begin + part.begin, range_.begin + part.end}),
                    after);
  EncodePart(*decision_.after, part);
}

void Shard::Advance(Chunk& chunk) {
  chunk.tree.Reset();
  ++chunk.step;
}

void Shard::Announce(Step step, Chunk& chunk) {
  std::vector<Waiter> ready;
  ParameterVersion next;
  {
    absl::MutexLock lock(&mutex_);
    chunk.version = step + 1;
    next = next_;
    ready = TakeReady(chunk.waiters, step + 1);
  }
  const auto chunks = static_cast<int64_t>(chunk_states_.size());
  // Before the last ones are told: they may push the next step at once.
  if (chunks_done_.fetch_add(1) + 1 == chunks) FinishStep(step);
  for (const Waiter& waiter : ready) waiter.callback(next);
}

void Shard::FinishStep(Step step) {
  const BatchStatistics statistics = decision_.statistics;
  if (!statistics.not_finite) ++updates_;
  ParameterVersion published;
  {
    absl::MutexLock lock(&mutex_);
    versions_[1] = std::move(versions_[0]);
    versions_[0] = std::exchange(next_, {});
    published = versions_[0];
    // Holds no buffer longer than the versions do.
    decision_.before = {};
    decision_.after = nullptr;
    chunks_done_.store(0);
    version_.store(step + 1, std::memory_order_release);
  }
  on_step_({step + 1, statistics});
  std::vector<Waiter> ready;
  {
    absl::MutexLock lock(&mutex_);
    // The step after may have been announced meanwhile.
    announced_ = std::max(announced_, published.version);
    ready = TakeReady(waiters_, published.version);
  }
  for (const Waiter& waiter : ready) waiter.callback(published);
}

absl::Status Shard::CheckPush(Step step, SlotRange node) const {
  if (!begun_.load(std::memory_order_acquire)) {
    return absl::UnavailableError("the job has not begun on this shard");
  }
  const Version version = version_.load(std::memory_order_acquire);
  if (step < 0 || step > version) {
    return absl::FailedPreconditionError(
        absl::StrCat("step: found ", step, ", expected ", version, " (this shard's version)"));
  }
  if (step >= plan_->total_steps()) {
    return absl::FailedPreconditionError(
        absl::StrCat("step: found ", step, ", the job's last is ", plan_->total_steps() - 1));
  }
  if (!IsTreeNode(node, plan_->slots())) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradient.slots: found [", node.begin, ", ", node.end,
                     "), expected a node of the summation tree over ", plan_->slots(), " slots"));
  }
  return absl::OkStatus();
}

absl::Status Shard::CheckStatistics(Step step, SlotRange node, const BatchStatistics& found) const {
  const int64_t samples =
      plan_->SlotSamples(step, node.end - 1).end - plan_->SlotSamples(step, node.begin).begin;
  if (found.samples == samples) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("gradient.statistics.samples: found ", found.samples, ", expected ", samples,
                   " (slots [", node.begin, ", ", node.end, ") of step ", step, ")"));
}

absl::StatusOr<Shard::Chunk*> Shard::FindChunk(ElementRange range) const {
  const int64_t offset = range.begin - range_.begin;
  if (offset >= 0 && offset % chunk_elements_ == 0) {
    const auto index = static_cast<size_t>(offset / chunk_elements_);
    if (index < chunks_.size() && chunks_[index] == range) return chunk_states_[index].get();
  }
  return absl::InvalidArgumentError(absl::StrCat("chunk: found [", range.begin, ", ", range.end,
                                                 "), expected a chunk of [", range_.begin, ", ",
                                                 range_.end, ") in steps of ", chunk_elements_));
}

std::shared_ptr<ParameterVersion::Buffer> Shard::TakeBuffer() {
  // A buffer that only this list holds is free: no version, no reader.
  for (const auto& buffer : buffers_) {
    if (buffer.use_count() == 1) return buffer;
  }
  buffers_.push_back(MakeBuffer());
  return buffers_.back();
}

absl::StatusOr<ParameterVersion> Shard::Get(std::optional<Version> version) const {
  absl::ReaderMutexLock lock(&mutex_);
  return GetLocked(version);
}

absl::StatusOr<ParameterVersion> Shard::GetLocked(std::optional<Version> version) const {
  const Version newest = versions_[0].version;
  if (!version.has_value() || *version == newest) return versions_[0];
  if (*version == newest - 1 && versions_[1].buffer != nullptr) return versions_[1];
  return absl::OutOfRangeError(absl::StrCat("version: found ", *version, ", expected ",
                                            std::max<Version>(0, newest - 1), " or ", newest));
}

void Shard::WhenVersion(Version version, VersionCallback callback) {
  absl::StatusOr<ParameterVersion> answer;
  {
    absl::MutexLock lock(&mutex_);
    if (!stopped_.ok()) {
      answer = stopped_;
    } else if (version > announced_) {
      waiters_.push_back({version, std::move(callback)});
      return;
    } else {
      answer = GetLocked(version);
    }
  }
  callback(std::move(answer));
}

void Shard::WhenChunk(Version version, ElementRange range, VersionCallback callback) {
  const absl::StatusOr<Chunk*> chunk = FindChunk(range);
  absl::StatusOr<ParameterVersion> answer;
  if (!chunk.ok()) {
    answer = chunk.status();
  } else {
    absl::MutexLock lock(&mutex_);
    if (!stopped_.ok()) {
      answer = stopped_;
    } else if (version > (*chunk)->version) {
      (*chunk)->waiters.push_back({version, std::move(callback)});
      return;
    } else {
      answer = version > versions_[0].version ? next_ : GetLocked(version);
    }
  }
  callback(std::move(answer));
}

void Shard::Stop(const absl::Status& status) {
  std::vector<Waiter> waiters;
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = status;
    waiters.swap(waiters_);
    for (const std::unique_ptr<Chunk>& chunk : chunk_states_) {
      std::move(chunk->waiters.begin(), chunk->waiters.end(), std::back_inserter(waiters));
      chunk->waiters.clear();
    }
  }
  for (const Waiter& waiter : waiters) waiter.callback(status);
}

}  // namespace tributary
