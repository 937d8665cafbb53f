#include "worker/data/prefetch_queue.h"

#include <algorithm>
#include <utility>

namespace tributary {

PrefetchQueue::PrefetchQueue(int32_t slots, int64_t total_steps, int depth)
    : total_steps_(total_steps),
      depth_(std::max(depth, 1)),
      index_of_slot_(static_cast<size_t>(slots), -1) {}

void PrefetchQueue::Expect(Step step, absl::Span<const int32_t> slots) {
  first_ = step;
  next_ = 0;
  floor_ = 0;
  taken_.clear();
  slots_.clear();
  std::fill(index_of_slot_.begin(), index_of_slot_.end(), -1);
  for (const int32_t slot : slots) {
    int64_t& index = index_of_slot_[static_cast<size_t>(slot)];
    if (index >= 0) continue;
    index = static_cast<int64_t>(slots_.size());
    slots_.push_back(slot);
  }
  std::map<int64_t, ReadyBatch> kept;
  for (auto& [old_position, batch] : ready_) {
    const std::optional<int64_t> position = PositionOf({batch.step, batch.slot});
    // A later one would hold its place for a long time while nearer ones wait for room.
    if (position.has_value() && *position < depth_) kept.emplace(*position, std::move(batch));
  }
  ready_ = std::move(kept);
}

bool PrefetchQueue::HasWork() {
  if (slots_.empty() || in_progress_.has_value()) return false;
  if (static_cast<int64_t>(ready_.size()) >= depth_) return false;
  while (ready_.count(next_) > 0 || taken_.erase(next_) > 0) ++next_;
  return KeyAt(next_).step < total_steps_;
}

std::optional<SlotKey> PrefetchQueue::StartNext() {
  if (!HasWork()) return std::nullopt;
  in_progress_ = KeyAt(next_++);
  in_progress_taken_ = false;
  return in_progress_;
}

void PrefetchQueue::Finish(ReadyBatch batch) {
  in_progress_.reset();
  const std::optional<int64_t> position = PositionOf({batch.step, batch.slot});
  if (!position.has_value() || *position < floor_ || in_progress_taken_) return;
  // A sequence that began meanwhile may not have come to it, nor may it have room.
  if (*position >= next_ && *position >= depth_) return;
  ready_.emplace(*position, std::move(batch));
}

std::optional<ReadyBatch> PrefetchQueue::Take(SlotKey key) {
  const std::optional<int64_t> position = PositionOf(key);
  std::optional<ReadyBatch> batch;
  const auto found = position.has_value() ? ready_.find(*position) : ready_.end();
  if (found != ready_.end()) {
    batch = std::move(found->second);
    ready_.erase(found);
  } else {
    SkipTo(key.step);
  }
  if (in_progress_ == key) in_progress_taken_ = true;
  if (position.has_value() && *position >= next_) taken_.insert(*position);
  return batch;
}

std::optional<int64_t> PrefetchQueue::PositionOf(SlotKey key) const {
  const int64_t index = index_of_slot_[static_cast<size_t>(key.slot)];
  if (index < 0 || key.step < first_) return std::nullopt;
  return (key.step - first_) * static_cast<int64_t>(slots_.size()) + index;
}

SlotKey PrefetchQueue::KeyAt(int64_t position) const {
  const auto slots = static_cast<int64_t>(slots_.size());
  return {first_ + position / slots, slots_[static_cast<size_t>(position % slots)]};
}

void PrefetchQueue::SkipTo(Step step) {
  floor_ = std::max(floor_, (step - first_) * static_cast<int64_t>(slots_.size()));
  next_ = std::max(next_, floor_);
  ready_.erase(ready_.begin(), ready_.lower_bound(floor_));
  taken_.erase(taken_.begin(), taken_.lower_bound(floor_));
}

}  // namespace tributary
