#include "server/coordinator/coordinator.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"

namespace tributary {
namespace {

void AppendSlots(const ComputeOrder& order, std::vector<Coordinator::Slot>& slots) {
  for (const SlotRange& range : order.slots) {
    for (int32_t slot = range.begin; slot < range.end; ++slot) slots.push_back({order.step, slot});
  }
}

// Consecutive slots of one step become one order with few ranges.
std::vector<ComputeOrder> GroupByStep(std::vector<Coordinator::Slot> slots) {
  std::sort(slots.begin(), slots.end());
  std::vector<ComputeOrder> orders;
  for (const Coordinator::Slot& slot : slots) {
    if (orders.empty() || orders.back().step != slot.step) orders.push_back({slot.step, {}});
    std::vector<SlotRange>& ranges = orders.back().slots;
    if (!ranges.empty() && ranges.back().end == slot.slot) {
      ++ranges.back().end;
    } else {
      ranges.push_back({slot.slot, slot.slot + 1});
    }
  }
  return orders;
}

absl::Status CheckLayout(uint64_t found, uint64_t expected) {
  if (found == expected) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("layout_fingerprint: found %016x, expected %016x: the peer computes another "
                      "layout from the job's model (another version of the program?)",
                      found, expected));
}

}  // namespace

Coordinator::Coordinator(const Job& job, const Options& options)
    : job_(job), options_(options), shards_(static_cast<size_t>(options.shards)) {}

absl::Status Coordinator::RegisterShard(const ShardHello& hello, Seconds now) {
  if (hello.shard < 0 || hello.shard >= options_.shards) {
    return absl::InvalidArgumentError(
        absl::StrCat("shard: found ", hello.shard, ", allowed 0 to ", options_.shards - 1));
  }
  RETURN_IF_ERROR(CheckLayout(hello.layout_fingerprint, job_.model.layout.fingerprint()));
  std::optional<ShardState>& state = shards_[static_cast<size_t>(hello.shard)];
  if (state.has_value() && state->hello.incarnation != hello.incarnation) {
    return absl::FailedPreconditionError(
        absl::StrCat("shard ", hello.shard, ": found a second process at ", hello.address,
                     ", this shard number is held by the process at ", state->hello.address));
  }
  state = ShardState{hello, now};
  MaybeBegin(now);
  return absl::OkStatus();
}

bool Coordinator::AllShardsRegistered() const {
  return std::all_of(shards_.begin(), shards_.end(),
                     [](const auto& shard) { return shard.has_value(); });
}

std::vector<std::string> Coordinator::shard_addresses() const {
  std::vector<std::string> addresses;
  for (const auto& shard : shards_) addresses.push_back(shard ? shard->hello.address : "");
  return addresses;
}

absl::Status Coordinator::Join(const WorkerHello& hello, Seconds now) {
  if (phase_ == Phase::kFailed) return absl::AbortedError(failure_);
  RETURN_IF_ERROR(CheckLayout(hello.layout_fingerprint, job_.model.layout.fingerprint()));
  if (hello.session == 0) return absl::InvalidArgumentError("session: found 0, expected another");
  if (hello.data.train_samples < 1 || hello.data.test_samples < 1) {
    return absl::InvalidArgumentError(absl::StrCat("data: found ", hello.data.train_samples,
                                                   " train and ", hello.data.test_samples,
                                                   " test samples, expected at least one of each"));
  }
  if (data_.has_value() && *data_ != hello.data) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "data: worker %s has %d train and %d test samples with fingerprint %016x, the job's other "
        "workers have %d and %d with %016x",
        hello.name, hello.data.train_samples, hello.data.test_samples, hello.data.fingerprint,
        data_->train_samples, data_->test_samples, data_->fingerprint));
  }
  data_ = hello.data;
  auto [worker, is_new] = workers_.try_emplace(hello.session);
  worker->second.hello = hello;
  worker->second.lease_end = now + options_.lease_seconds;
  if (is_new) worker->second.order = joined_++;
  MaybeBegin(now);
  return absl::OkStatus();
}

void Coordinator::MaybeBegin(Seconds now) {
  if (phase_ != Phase::kWaiting || !AllShardsRegistered() ||
      workers() < job_.training.min_workers) {
    return;
  }
  plan_.emplace(data_->train_samples, job_.training.global_batch, job_.training.slots,
                job_.training.epochs, job_.training.max_steps);
  phase_ = Phase::kTraining;
  progress_.Resume(now);
  AssignSlots();
}

void Coordinator::AssignSlots() {
  std::vector<Worker*> by_order;
  for (auto& [session, worker] : workers_) by_order.push_back(&worker);
  if (by_order.empty()) {
    for (int32_t slot = 0; slot < plan_->slots(); ++slot) orphans_.push_back({version_, slot});
    return;
  }
  std::sort(by_order.begin(), by_order.end(),
            [](const Worker* a, const Worker* b) { return a->order < b->order; });
  const int64_t slots = plan_->slots();
  const auto count = static_cast<int64_t>(by_order.size());
  for (int64_t i = 0; i < count; ++i) {
    const SlotRange share{static_cast<int32_t>(slots * i / count),
                          static_cast<int32_t>(slots * (i + 1) / count)};
    if (share.size() > 0) by_order[static_cast<size_t>(i)]->order_for_step = {version_, {share}};
  }
}

absl::StatusOr<Coordinator::Worker*> Coordinator::FindWorker(SessionId session, Seconds now) {
  if (phase_ == Phase::kFailed) return absl::AbortedError(failure_);
  const auto found = workers_.find(session);
  if (found == workers_.end()) {
    return absl::FailedPreconditionError(
        absl::StrFormat("session: found %016x, which is not in the job (its lease ran out?): join "
                        "again",
                        session));
  }
  found->second.lease_end = now + options_.lease_seconds;
  return &found->second;
}

absl::StatusOr<Work> Coordinator::NextWork(SessionId session, Seconds now) {
  ASSIGN_OR_RETURN(Worker * worker, FindWorker(session, now));
  switch (phase_) {
    case Phase::kWaiting:
      return WaitOrder{WaitingFor()};
    case Phase::kTraining:
    case Phase::kEvaluating: {
      // Without the step before, a shard may never have the parameters that the rest asks for.
      std::vector<Slot> late = AdoptOrphans(*worker);
      std::erase_if(late, [&](const Slot& slot) { return slot.step == version_; });
      if (!late.empty()) return GroupByStep(std::move(late)).front();
      return phase_ == Phase::kTraining ? SlotsOrWait(*worker) : UnitsOrWait(*worker);
    }
    case Phase::kFinished:
    case Phase::kClosed:
      return FinishedOrder{version_};
    case Phase::kFailed:
      break;
  }
  return absl::AbortedError(failure_);
}

Work Coordinator::SlotsOrWait(const Worker& worker) const {
  std::vector<Slot> slots;
  if (worker.order_for_step.has_value()) AppendSlots(*worker.order_for_step, slots);
  std::copy_if(worker.adopted.begin(), worker.adopted.end(), std::back_inserter(slots),
               [&](const Slot& slot) { return slot.step == version_; });
  if (slots.empty()) return WaitOrder{"every slot of the step has a worker"};
  return GroupByStep(std::move(slots)).front();
}

Work Coordinator::UnitsOrWait(Worker& worker) {
  if (worker.units.empty()) {
    const int64_t share = (EvaluationUnits() + workers() - 1) / workers();
    while (!open_units_.empty() && static_cast<int64_t>(worker.units.size()) < share) {
      worker.units.push_back(open_units_.front());
      open_units_.pop_front();
    }
  }
  if (worker.units.empty()) return WaitOrder{"the evaluation's last units"};
  return EvaluateOrder{version_, worker.units};
}

absl::StatusOr<std::vector<ComputeOrder>> Coordinator::Renew(SessionId session, Seconds now) {
  ASSIGN_OR_RETURN(Worker * worker, FindWorker(session, now));
  AdoptOrphans(*worker);
  return GroupByStep(worker->adopted);
}

std::vector<Coordinator::Slot> Coordinator::AdoptOrphans(Worker& worker) {
  std::vector<Slot> taken;
  taken.swap(orphans_);
  worker.adopted.insert(worker.adopted.end(), taken.begin(), taken.end());
  return taken;
}

absl::Status Coordinator::ReportEvaluation(const EvaluationResult& result, Seconds now) {
  if (phase_ != Phase::kEvaluating || result.version != version_) return absl::OkStatus();
  const int64_t batch = job_.evaluation.batch;
  const int64_t begin = result.unit * batch;
  if (result.unit < 0 || begin >= data_->test_samples) {
    return absl::InvalidArgumentError(absl::StrCat("unit: found ", result.unit, ", allowed 0 to ",
                                                   (data_->test_samples - 1) / batch));
  }
  const int64_t expected = std::min(batch, data_->test_samples - begin);
  if (result.statistics.samples != expected || result.statistics.correct < 0 ||
      result.statistics.correct > expected) {
    return absl::InvalidArgumentError(absl::StrCat(
        "unit ", result.unit, ": found ", result.statistics.correct, " correct of ",
        result.statistics.samples, " samples, expected at most ", expected, " of ", expected));
  }
  // Whoever evaluates a version had it from every shard.
  ForgetSlots(version_);
  unit_results_.try_emplace(result.unit, result.statistics);
  std::erase(open_units_, result.unit);
  for (auto& [session, worker] : workers_) std::erase(worker.units, result.unit);
  if (static_cast<int64_t>(unit_results_.size()) == EvaluationUnits()) EndEvaluation(now);
  return absl::OkStatus();
}

void Coordinator::StepCompleted(Version version, const BatchStatistics& statistics, Seconds now) {
  if (phase_ != Phase::kTraining) return;
  progress_.AddStep(statistics, now);
  const Step step = version - 1;
  version_ = version;
  // The step was computed from the version before it, of every shard.
  ForgetSlots(step);
  for (auto& [session, worker] : workers_) {
    if (worker.order_for_step.has_value()) AppendSlots(*worker.order_for_step, worker.before);
    worker.order_for_step.reset();
  }
  const int64_t epoch = plan_->EpochOf(step);
  const bool is_last = version == plan_->total_steps();
  const bool epoch_wants_it = job_.evaluation.every_epochs > 0 && plan_->IsLastOfEpoch(step) &&
                              (epoch + 1) % job_.evaluation.every_epochs == 0;
  if (is_last || epoch_wants_it) {
    progress_.Pause(now);
    BeginEvaluation();
  } else {
    AssignSlots();
  }
}

void Coordinator::ForgetSlots(Version complete) {
  const auto is_finished = [&](const Slot& slot) { return slot.step < complete; };
  std::erase_if(orphans_, is_finished);
  for (auto& [session, worker] : workers_) {
    std::erase_if(worker.before, is_finished);
    std::erase_if(worker.adopted, is_finished);
  }
}

int64_t Coordinator::EvaluationUnits() const {
  const int64_t batch = job_.evaluation.batch;
  return (data_->test_samples + batch - 1) / batch;
}

void Coordinator::BeginEvaluation() {
  phase_ = Phase::kEvaluating;
  for (int64_t unit = 0; unit < EvaluationUnits(); ++unit) {
    open_units_.push_back(static_cast<int32_t>(unit));
  }
}

void Coordinator::EndEvaluation(Seconds now) {
  EvaluationSummary summary{version_, {}};
  for (const auto& [unit, statistics] : unit_results_) summary.statistics += statistics;
  evaluations_.push_back(summary);
  unit_results_.clear();
  open_units_.clear();
  for (auto& [session, worker] : workers_) worker.units.clear();
  if (version_ == plan_->total_steps()) {
    phase_ = Phase::kFinished;
    return;
  }
  phase_ = Phase::kTraining;
  progress_.Resume(now);
  AssignSlots();
}

void Coordinator::Leave(SessionId session, Seconds) {
  const auto worker = workers_.find(session);
  if (worker != workers_.end()) Remove(worker);
}

void Coordinator::Remove(std::map<SessionId, Worker>::iterator worker) {
  Worker& lost = worker->second;
  if (plan_.has_value() && phase_ != Phase::kFinished && phase_ != Phase::kClosed) {
    orphans_.insert(orphans_.end(), lost.before.begin(), lost.before.end());
    orphans_.insert(orphans_.end(), lost.adopted.begin(), lost.adopted.end());
    if (lost.order_for_step.has_value()) AppendSlots(*lost.order_for_step, orphans_);
    std::sort(orphans_.begin(), orphans_.end());
    orphans_.erase(std::unique(orphans_.begin(), orphans_.end()), orphans_.end());
    open_units_.insert(open_units_.end(), lost.units.begin(), lost.units.end());
  }
  workers_.erase(worker);
  // Whatever data the next one has: there is nobody to agree with.
  if (phase_ == Phase::kWaiting && workers_.empty()) data_.reset();
}

std::vector<std::string> Coordinator::Tick(Seconds now) {
  std::vector<std::string> lost;
  for (auto it = workers_.begin(); it != workers_.end();) {
    const auto next = std::next(it);
    if (it->second.lease_end < now) {
      lost.push_back(it->second.hello.name);
      Remove(it);
    }
    it = next;
  }
  // Shard 0 lives in this process.
  for (size_t i = 1; i < shards_.size(); ++i) {
    if (shards_[i].has_value() && shards_[i]->last_seen + options_.lease_seconds < now) {
      LoseShard(i);
    }
  }
  return lost;
}

void Coordinator::LoseShard(size_t shard) {
  // While the job waits nothing is lost: another process may take the place.
  if (phase_ != Phase::kWaiting) {
    Fail(absl::StrCat("shard ", shard, " at ", shards_[shard]->hello.address,
                      " has been silent for ", options_.lease_seconds,
                      " seconds; its parameters are lost"));
  }
  shards_[shard].reset();
}

void Coordinator::Fail(const std::string& why) {
  if (phase_ == Phase::kFailed || phase_ == Phase::kClosed) return;
  phase_ = Phase::kFailed;
  failure_ = why;
}

void Coordinator::Close() {
  if (phase_ == Phase::kFinished) phase_ = Phase::kClosed;
}

std::string Coordinator::WaitingFor() const {
  if (phase_ != Phase::kWaiting) {
    return workers_.empty() && (phase_ == Phase::kTraining || phase_ == Phase::kEvaluating)
               ? "a worker"
               : "";
  }
  std::vector<std::string> missing;
  for (size_t i = 0; i < shards_.size(); ++i) {
    if (!shards_[i].has_value()) missing.push_back(absl::StrCat("shard ", i));
  }
  if (workers() < job_.training.min_workers) {
    missing.push_back(absl::StrCat("workers (", workers(), " of ", job_.training.min_workers, ")"));
  }
  return absl::StrJoin(missing, ", ");
}

}  // namespace tributary
