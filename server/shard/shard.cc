#include "server/shard/shard.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/model/initialize.h"
#include "server/shard/learning_rate.h"

namespace tributary {

Shard::Shard(const Job& job, ShardId shard, ShardId shards, int64_t chunk_elements)
    : job_(job),
      range_(job.model.layout.ShardRange(shard, shards)),
      chunk_elements_(chunk_elements),
      chunks_(CutIntoChunks(range_, chunk_elements)),
      optimizer_(CreateOptimizer(job.optimizer, job.model.layout, range_)) {
  for (const ElementRange& chunk : chunks_) {
    chunk_states_.push_back(std::make_unique<Chunk>(chunk, job.training.slots));
  }
  auto values = std::make_shared<std::vector<float>>(static_cast<size_t>(range_.size()));
  InitializeParameters(job.model, job.seed, range_, absl::MakeSpan(*values));
  absl::MutexLock lock(&mutex_);
  buffers_.push_back(values);
  versions_[0] = {.version = 0, .range = range_, .values = values};
}

void Shard::Begin(const BatchPlan& plan, StepCallback on_step) {
  plan_ = plan;
  on_step_ = std::move(on_step);
  begun_.store(true, std::memory_order_release);
}

absl::Status Shard::Push(Step step, ElementRange chunk_range, SlotRange node,
                         absl::Span<const float> values, const BatchStatistics& statistics) {
  RETURN_IF_ERROR(CheckPush(step, node, statistics));
  ASSIGN_OR_RETURN(Chunk * chunk, FindChunk(chunk_range));
  if (static_cast<int64_t>(values.size()) != chunk_range.size()) {
    return absl::InvalidArgumentError(absl::StrCat("gradient.values: found ", values.size(),
                                                   " elements, expected ", chunk_range.size()));
  }
  {
    absl::MutexLock lock(&chunk->mutex);
    if (step < chunk->step || !chunk->tree.Add(node, values, statistics)) return absl::OkStatus();
    if (!chunk->tree.complete()) return absl::OkStatus();
  }
  // The last chunk's last piece completes the step. Nothing else can touch the trees now: they are
  // complete, so every further push of this step is a repeat, and the next step has not begun.
  const auto chunks = static_cast<int64_t>(chunk_states_.size());
  if (complete_chunks_.fetch_add(1, std::memory_order_acq_rel) + 1 == chunks) ApplyStep();
  return absl::OkStatus();
}

absl::Status Shard::CheckPush(Step step, SlotRange node, const BatchStatistics& statistics) const {
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
  const int64_t samples =
      plan_->SlotSamples(step, node.end - 1).end - plan_->SlotSamples(step, node.begin).begin;
  if (statistics.samples != samples) {
    return absl::InvalidArgumentError(
        absl::StrCat("gradient.statistics.samples: found ", statistics.samples, ", expected ",
                     samples, " (slots [", node.begin, ", ", node.end, ") of step ", step, ")"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Shard::Chunk*> Shard::FindChunk(ElementRange range) {
  const int64_t offset = range.begin - range_.begin;
  if (offset >= 0 && offset % chunk_elements_ == 0) {
    const auto index = static_cast<size_t>(offset / chunk_elements_);
    if (index < chunks_.size() && chunks_[index] == range) return chunk_states_[index].get();
  }
  return absl::InvalidArgumentError(absl::StrCat("chunk: found [", range.begin, ", ", range.end,
                                                 "), expected a chunk of [", range_.begin, ", ",
                                                 range_.end, ") in steps of ", chunk_elements_));
}

void Shard::ApplyStep() {
  const Step step = version_.load(std::memory_order_relaxed);
  ParameterVersion before;
  std::shared_ptr<std::vector<float>> after;
  {
    absl::MutexLock lock(&mutex_);
    before = versions_[0];
    after = TakeBuffer();
  }

  // Every chunk's statistics are the same: they ride on every push.
  BatchStatistics statistics;
  {
    absl::MutexLock lock(&chunk_states_[0]->mutex);
    statistics = chunk_states_[0]->tree.nodes()[0].statistics;
  }
  const bool skip = statistics.not_finite;
  const double learning_rate = LearningRateAt(job_.learning_rate, *plan_, step);
  for (const std::unique_ptr<Chunk>& chunk : chunk_states_) {
    absl::MutexLock lock(&chunk->mutex);
    const ElementRange part{chunk->range.begin - range_.begin, chunk->range.end - range_.begin};
    if (!skip && !part.empty()) {
      optimizer_->Apply(part, chunk->tree.nodes()[0].values, statistics.samples, learning_rate,
                        updates_, before.Part(chunk->range),
                        absl::MakeSpan(*after).subspan(static_cast<size_t>(part.begin),
                                                       static_cast<size_t>(part.size())));
    }
    chunk->tree.Reset();
    chunk->step = step + 1;
  }
  if (!skip) ++updates_;

  ParameterVersion published{.version = step + 1, .range = range_, .values = after};
  // A step that is left out has a version all the same; its parameters are those before.
  if (skip) published.values = before.values;
  {
    absl::MutexLock lock(&mutex_);
    versions_[1] = versions_[0];
    versions_[0] = published;
    complete_chunks_.store(0, std::memory_order_relaxed);
    version_.store(step + 1, std::memory_order_release);
  }
  on_step_({step + 1, statistics});
  Announce(published);
}

void Shard::Announce(const ParameterVersion& published) {
  std::vector<VersionCallback> ready;
  {
    absl::MutexLock lock(&mutex_);
    // The step after may have been announced meanwhile.
    announced_ = std::max(announced_, published.version);
    for (auto& [version, callback] : waiters_) {
      if (version == published.version) ready.push_back(std::move(callback));
    }
    std::erase_if(waiters_, [&](const auto& waiter) { return waiter.first == published.version; });
  }
  for (const VersionCallback& callback : ready) callback(published);
}

std::shared_ptr<std::vector<float>> Shard::TakeBuffer() {
  // A buffer that only this list holds is free: no version, no reader.
  for (const auto& buffer : buffers_) {
    if (buffer.use_count() == 1) return buffer;
  }
  buffers_.push_back(std::make_shared<std::vector<float>>(static_cast<size_t>(range_.size())));
  return buffers_.back();
}

absl::StatusOr<ParameterVersion> Shard::Get(std::optional<Version> version) const {
  absl::ReaderMutexLock lock(&mutex_);
  return GetLocked(version);
}

absl::StatusOr<ParameterVersion> Shard::GetLocked(std::optional<Version> version) const {
  const Version newest = versions_[0].version;
  if (!version.has_value() || *version == newest) return versions_[0];
  if (*version == newest - 1 && versions_[1].values != nullptr) return versions_[1];
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
      waiters_.emplace_back(version, std::move(callback));
      return;
    } else {
      answer = GetLocked(version);
    }
  }
  callback(std::move(answer));
}

void Shard::Stop(const absl::Status& status) {
  std::vector<std::pair<Version, VersionCallback>> waiters;
  {
    absl::MutexLock lock(&mutex_);
    stopped_ = status;
    waiters.swap(waiters_);
  }
  for (const auto& [version, callback] : waiters) callback(status);
}

}  // namespace tributary
