#include "worker/trainer/adopted_work.h"

#include <spdlog/spdlog.h>

#include <string>

#include "common/base/status_macros.h"

namespace tributary {
namespace {

// Slots are handed on for the step in progress and the one before.
constexpr Step kStepsRemembered = 3;

}  // namespace

std::vector<int32_t> SlotsOf(const ComputeOrder& order) {
  std::vector<int32_t> slots;
  for (const SlotRange& range : order.slots) {
    for (int32_t slot = range.begin; slot < range.end; ++slot) slots.push_back(slot);
  }
  return slots;
}

AdoptedWork::AdoptedWork(const Job& job, const Dataset& dataset, BatchSource& source,
                         const NetworkFactory& factory, ParameterClient& client)
    : job_(job),
      dataset_(dataset),
      source_(source),
      factory_(factory),
      client_(client),
      thread_([this] { Run(); }) {}

AdoptedWork::~AdoptedWork() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  thread_.join();
}

ComputeOrder AdoptedWork::TakeNew(const ComputeOrder& order) {
  ComputeOrder fresh{order.step, {}};
  for (const int32_t slot : SlotsOf(order)) {
    if (taken_.insert({order.step, slot}).second) fresh.slots.push_back({slot, slot + 1});
  }
  std::erase_if(taken_, [newest = taken_.empty() ? 0 : taken_.rbegin()->first](const Slot& slot) {
    return slot.first < newest - kStepsRemembered;
  });
  return fresh;
}

void AdoptedWork::Mark(const ComputeOrder& order) {
  absl::MutexLock lock(&mutex_);
  TakeNew(order);
}

void AdoptedWork::Adopt(const std::vector<ComputeOrder>& orders) {
  absl::MutexLock lock(&mutex_);
  for (const ComputeOrder& order : orders) {
    ComputeOrder fresh = TakeNew(order);
    if (!fresh.slots.empty()) queue_.push_back(std::move(fresh));
  }
}

void AdoptedWork::Run() {
  const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || !queue_.empty();
  };
  while (true) {
    ComputeOrder order;
    {
      absl::MutexLock lock(&mutex_, absl::Condition(&has_work));
      if (stopping_) return;
      order = std::move(queue_.front());
      queue_.erase(queue_.begin());
    }
    const absl::Status status = Compute(order);
    // Gone: the step is complete, somebody else was faster.
    if (status.ok() || absl::IsOutOfRange(status) || absl::IsCancelled(status)) continue;
    spdlog::warn("slots of a lost worker could not be computed step={}: {}", order.step,
                 std::string(status.message()));
    // They are offered again with the next renewal of the lease.
    absl::MutexLock lock(&mutex_);
    for (const int32_t slot : SlotsOf(order)) taken_.erase({order.step, slot});
  }
}

absl::Status AdoptedWork::Compute(const ComputeOrder& order) {
  if (pool_ == nullptr) {
    ASSIGN_OR_RETURN(pool_, ComputePool::Create(job_, dataset_, source_, 1, factory_));
    parameters_.resize(static_cast<size_t>(job_.model.layout.elements()));
  }
  RETURN_IF_ERROR(client_.Pull(order.step, absl::MakeSpan(parameters_)));
  pool_->SetParameters(parameters_);
  ASSIGN_OR_RETURN(const std::vector<NodeGradient> gradients,
                   pool_->ComputeGradients(order.step, SlotsOf(order)));
  RETURN_IF_ERROR(client_.Push(order.step, gradients));
  spdlog::info("computed slots of a lost worker step={} slots={}", order.step,
               SlotsOf(order).size());
  return absl::OkStatus();
}

}  // namespace tributary
