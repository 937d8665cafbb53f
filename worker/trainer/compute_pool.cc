#include "worker/trainer/compute_pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace tributary {

ComputePool::ComputePool(const Job& job, const Dataset& dataset, BatchSource& source)
    : job_(job),
      dataset_(dataset),
      source_(source),
      encoder_(job.transfer, job.model.layout),
      tree_(job.training.slots, job.model.layout.elements()) {}

absl::StatusOr<std::unique_ptr<ComputePool>> ComputePool::Create(const Job& job,
                                                                 const Dataset& dataset,
                                                                 BatchSource& source, int threads,
                                                                 const NetworkFactory& factory) {
  std::unique_ptr<ComputePool> pool(new ComputePool(job, dataset, source));
  const int64_t slots = job.training.slots;
  const int64_t most_in_slot = (job.training.global_batch + slots - 1) / slots;
  const int64_t max_batch =
      std::max(most_in_slot, std::min(job.evaluation.batch, dataset.test.samples()));
  // The threads keep references to the lanes.
  pool->lanes_.resize(static_cast<size_t>(threads));
  for (Lane& lane : pool->lanes_) {
    ASSIGN_OR_RETURN(lane.network, factory(job.model, max_batch));
  }
  for (size_t i = 1; i < pool->lanes_.size(); ++i) {
    pool->threads_.emplace_back(
        [&pool = *pool, &lane = pool->lanes_[i]] { pool.LaneThread(lane); });
  }
  return pool;
}

ComputePool::~ComputePool() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void ComputePool::SetParameters(absl::Span<const float> parameters) {
  parameters_ = parameters;
  ++parameters_number_;
}

void ComputePool::LaneThread(Lane& lane) {
  int64_t done = 0;
  const auto has_work = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stopping_ || round_ != done;
  };
  while (true) {
    {
      absl::MutexLock lock(&mutex_, absl::Condition(&has_work));
      if (stopping_) return;
      done = round_;
    }
    TakeTasks(lane);
    absl::MutexLock lock(&mutex_);
    ++resting_;
  }
}

void ComputePool::TakeTasks(Lane& lane) {
  for (size_t i = next_task_.fetch_add(1); i < statuses_.size(); i = next_task_.fetch_add(1)) {
    if (lane.parameters_number != parameters_number_) {
      statuses_[i] = lane.network->SetParameters(parameters_);
      if (!statuses_[i].ok()) continue;
      lane.parameters_number = parameters_number_;
    }
    statuses_[i] = (*task_)(lane, i);
  }
}

absl::Status ComputePool::RunAll(size_t count, const Task& task) {
  task_ = &task;
  statuses_.assign(count, absl::OkStatus());
  next_task_.store(0);
  // One task needs no other lane, and no thread to be woken.
  const bool alone = count <= 1 || threads_.empty();
  if (!alone) {
    absl::MutexLock lock(&mutex_);
    resting_ = 0;
    ++round_;
  }
  TakeTasks(lanes_[0]);
  if (!alone) {
    const auto all_rest = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      return resting_ == threads_.size();
    };
    absl::MutexLock lock(&mutex_, absl::Condition(&all_rest));
  }
  for (const absl::Status& status : statuses_) RETURN_IF_ERROR(status);
  return absl::OkStatus();
}

absl::Status ComputePool::ComputeSlot(Lane& lane, Step step, int32_t slot,
                                      BatchStatistics& statistics) {
  // A gradient that is still on its way is left alone.
  if (lane.gradient == nullptr || lane.gradient.use_count() > 1) {
    lane.gradient =
        std::make_shared<std::vector<float>>(static_cast<size_t>(job_.model.layout.elements()));
  }
  const ReadyBatch batch = source_.Get(step, slot);
  return lane.network->ComputeGradient(
      {batch.images, batch.labels},
      {.seed = job_.seed, .step = step, .first_position = batch.first_position},
      absl::MakeSpan(*lane.gradient), statistics);
}

absl::StatusOr<std::vector<NodeGradient>> ComputePool::ComputeGradients(
    Step step, const std::vector<int32_t>& slots) {
  if (job_.transfer.push != WireType::kFp32) return ComputeEncoded(step, slots);
  // One slot is its own sum.
  if (slots.size() == 1) {
    NodeGradient gradient{.slots = {slots[0], slots[0] + 1}, .values = {}, .statistics = {}};
    const Task task = [&](Lane& lane, size_t) -> absl::Status {
      RETURN_IF_ERROR(ComputeSlot(lane, step, slots[0], gradient.statistics));
      gradient.values = EncodedVector::Fp32(*lane.gradient, lane.gradient);
      return absl::OkStatus();
    };
    RETURN_IF_ERROR(RunAll(1, task));
    return std::vector<NodeGradient>{std::move(gradient)};
  }
  {
    absl::MutexLock lock(&tree_mutex_);
    tree_.Reset();
  }
  const Task task = [&](Lane& lane, size_t i) -> absl::Status {
    BatchStatistics statistics;
    RETURN_IF_ERROR(ComputeSlot(lane, step, slots[i], statistics));
    absl::MutexLock lock(&tree_mutex_);
    tree_.Add({slots[i], slots[i] + 1}, *lane.gradient, statistics);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(RunAll(slots.size(), task));
  std::vector<NodeGradient> gradients;
  absl::MutexLock lock(&tree_mutex_);
  for (const SlotTree::Node& node : tree_.nodes()) {
    gradients.push_back({.slots = node.slots,
                         .values = EncodedVector::Fp32(node.values, node.owner),
                         .statistics = node.statistics});
  }
  return gradients;
}

absl::StatusOr<std::vector<NodeGradient>> ComputePool::ComputeEncoded(
    Step step, const std::vector<int32_t>& slots) {
  std::vector<NodeGradient> gradients(slots.size());
  const Task task = [&](Lane& lane, size_t i) -> absl::Status {
    NodeGradient& gradient = gradients[i];
    gradient.slots = {slots[i], slots[i] + 1};
    RETURN_IF_ERROR(ComputeSlot(lane, step, slots[i], gradient.statistics));
    gradient.values = encoder_.Encode(step, slots[i], *lane.gradient, gradient.statistics);
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(RunAll(slots.size(), task));
  return gradients;
}

absl::StatusOr<std::vector<EvaluationResult>> ComputePool::Evaluate(const EvaluateOrder& order) {
  const int64_t samples = dataset_.test.samples();
  std::vector<EvaluationResult> results;
  for (const int32_t unit : order.units) {
    if (unit < 0 || unit * job_.evaluation.batch >= samples) {
      return absl::InvalidArgumentError(absl::StrCat("unit: found ", unit, ", allowed 0 to ",
                                                     (samples - 1) / job_.evaluation.batch));
    }
    results.push_back({.version = order.version, .unit = unit, .statistics = {}});
  }
  RETURN_IF_ERROR(RunAll(results.size(), [&](Lane& lane, size_t i) {
    const int64_t begin = results[i].unit * job_.evaluation.batch;
    const EvaluationBatch batch = MakeEvaluationBatch(
        dataset_.test, job_.data, {begin, std::min(begin + job_.evaluation.batch, samples)});
    return lane.network->Evaluate({batch.images, batch.labels}, results[i].statistics);
  }));
  return results;
}

}  // namespace tributary
