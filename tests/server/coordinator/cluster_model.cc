#include "tests/server/coordinator/cluster_model.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "tests/server/coordinator/coordinator_test_support.h"

namespace tributary {
namespace {

constexpr Coordinator::Seconds kLease = 10;
// Far above what any of the jobs below needs without trouble.
constexpr int64_t kMostCalmEvents = 1'000'000;
constexpr int kLostAnswerPercent = 10;

template <typename T>
auto Pick(std::vector<T>& from, uint64_t number) {
  return from.begin() + static_cast<std::ptrdiff_t>(number % from.size());
}

// How many images of a unit are right: any function that tells units and versions apart.
int64_t CorrectOf(Version version, int32_t unit, int64_t samples) {
  return (version * 7 + int64_t{unit} * 3) % (samples + 1);
}

}  // namespace

ClusterModel::ClusterModel(uint32_t seed) : random_(seed), job_(TestJob()) {
  job_.training = {.epochs = 1 + static_cast<int64_t>(Below(4)),
                   .max_steps = Chance(70) ? 1 + static_cast<int64_t>(Below(80)) : 0,
                   .global_batch = 1 + static_cast<int64_t>(Below(6)),
                   .slots = 1 + static_cast<int32_t>(Below(8)),
                   .min_workers = 1 + static_cast<int32_t>(Below(3))};
  job_.evaluation = {.every_epochs = static_cast<int64_t>(Below(3)),
                     .batch = 1 + static_cast<int64_t>(Below(10))};
  data_ = {.train_samples = 1 + static_cast<int64_t>(Below(100)),
           .test_samples = 1 + static_cast<int64_t>(Below(40)),
           .fingerprint = seed};
  most_workers_ = static_cast<size_t>(job_.training.min_workers) + Below(4);
  shards_.resize(1 + Below(4));
  coordinator_ = std::make_unique<Coordinator>(
      job_, Coordinator::Options{.shards = static_cast<ShardId>(shards_.size()),
                                 .lease_seconds = kLease});
}

void ClusterModel::Promise(bool holds, const std::string& what) {
  if (!holds && broken_.size() < 5) broken_.push_back(what);
}

std::vector<std::string> ClusterModel::Run() {
  const auto one_event = [&] {
    ++counts_.events;
    LetTimePass();
    if (Chance(5)) DeliverLateMessage();
    if (!workers_.empty()) Act(**Pick(workers_, random_()));
    CheckEvaluations();
    std::erase_if(workers_, [](const auto& worker) { return worker->has_finished; });
  };
  const auto phase_is_over = [&] { return coordinator_->phase() == Phase::kFinished; };

  const auto troubled_events = static_cast<int64_t>(1000 + Below(3000));
  for (int64_t i = 0; i < troubled_events && !phase_is_over() && broken_.empty(); ++i) {
    CauseTrouble();
    one_event();
  }
  // Who hangs now never comes back; enough others are there.
  std::erase_if(workers_, [&](const auto& worker) { return worker->asleep_until > now_; });
  while (workers_.size() < static_cast<size_t>(job_.training.min_workers)) {
    AddWorker();
  }
  for (int64_t i = 0; i < kMostCalmEvents && !workers_.empty() && broken_.empty(); ++i) one_event();
  CheckEnd();
  return broken_;
}

void ClusterModel::AddWorker() {
  workers_.push_back(std::make_unique<Worker>());
  workers_.back()->session = ++sessions_;
  workers_.back()->remembers = Chance(80);
}

void ClusterModel::CauseTrouble() {
  if (workers_.size() < most_workers_ && Chance(3)) AddWorker();
  if (workers_.empty() || !Chance(2)) return;
  const auto victim = Pick(workers_, random_());
  Worker& worker = **victim;
  switch (Below(4)) {
    case 0:
      coordinator_->Leave(worker.session, now_);
      workers_.erase(victim);
      break;
    case 1:
      // Dead. A shard may still hold its last call, and ask for it when the parameters are there.
      if (worker.is_in) late_.push_back(Ask{worker.session});
      workers_.erase(victim);
      break;
    default:
      worker.asleep_until = now_ + static_cast<Seconds>(Below(30));
      break;
  }
}

void ClusterModel::LetTimePass() {
  now_ += static_cast<Seconds>(Below(200)) / 1000;
  if (!Chance(10)) return;
  for (size_t i = 0; i < shards_.size(); ++i) {
    shards_[i].is_registered = shards_[i].is_registered || Chance(30);
    if (!shards_[i].is_registered) continue;
    const absl::Status status =
        coordinator_->RegisterShard(ShardNumber(job_, static_cast<ShardId>(i)), now_);
    Promise(status.ok(), absl::StrCat("a shard registers: ", status.ToString()));
  }
  counts_.lost_workers += static_cast<int64_t>(coordinator_->Tick(now_).size());
  Promise(coordinator_->phase() != Phase::kFailed, coordinator_->failure());
}

void ClusterModel::DeliverLateMessage() {
  if (late_.empty()) return;
  const auto message = Pick(late_, random_());
  ++counts_.late_messages;
  if (const auto* push = std::get_if<Push>(&*message)) {
    Arrive(*push);
  } else if (const auto* result = std::get_if<EvaluationResult>(&*message)) {
    const absl::Status status = coordinator_->ReportEvaluation(*result, now_);
    Promise(status.ok(), absl::StrCat("a late report: ", status.ToString()));
  } else {
    // The answer goes nowhere.
    (void)coordinator_->NextWork(std::get<Ask>(*message).session, now_);
  }
  if (Chance(70)) late_.erase(message);
}

void ClusterModel::Act(Worker& worker) {
  if (worker.asleep_until > now_) return;
  if (!worker.is_in) return Join(worker);
  if (now_ >= worker.renew_at) return Renew(worker);
  if (!worker.unanswered.empty() && Chance(60)) return SendOnePush(worker);
  if (!worker.extra.empty() && Chance(50)) return ComputeExtra(worker);
  GoOn(worker);
}

void ClusterModel::Join(Worker& worker) {
  const absl::Status status = coordinator_->Join(WorkerNumber(job_, worker.session, data_), now_);
  Promise(status.ok(), absl::StrCat("a worker joins: ", status.ToString()));
  if (Chance(kLostAnswerPercent)) return;
  worker.is_in = true;
  if (worker.was_in) ++counts_.rejoined;
  worker.was_in = true;
}

void ClusterModel::Renew(Worker& worker) {
  const auto extra = coordinator_->Renew(worker.session, now_);
  if (Chance(kLostAnswerPercent)) return;
  worker.renew_at = now_ + kLease / 3;
  if (!extra.ok()) {
    Promise(absl::IsFailedPrecondition(extra.status()), extra.status().ToString());
    worker.is_in = false;
    return;
  }
  for (const ComputeOrder& order : *extra) CheckOrder(order);
  for (const Slot& slot : SlotsOf(*extra)) {
    if (worker.remembers && worker.computed.count(slot) > 0) continue;
    if (std::count(worker.extra.begin(), worker.extra.end(), slot) > 0) continue;
    worker.extra.push_back(slot);
    ++counts_.orphans_by_renew;
  }
}

std::optional<Work> ClusterModel::AskForWork(Worker& worker) {
  for (const EvaluationResult& result : worker.results) {
    const absl::Status status = coordinator_->ReportEvaluation(result, now_);
    Promise(status.ok(), absl::StrCat("a report: ", status.ToString()));
    if (Chance(10)) late_.push_back(result);
  }
  const absl::StatusOr<Work> work = coordinator_->NextWork(worker.session, now_);
  if (Chance(kLostAnswerPercent)) return std::nullopt;
  worker.results.clear();
  if (!work.ok()) {
    Promise(absl::IsFailedPrecondition(work.status()), work.status().ToString());
    worker.is_in = false;
    return std::nullopt;
  }
  CheckOrder(*work);
  return *work;
}

void ClusterModel::CheckOrder(const Work& work) {
  const Version version = coordinator_->version();
  if (const auto* compute = std::get_if<ComputeOrder>(&work)) {
    Promise(compute->step == version || compute->step == version - 1,
            absl::StrCat("an order for step ", compute->step, " at version ", version));
    Promise(!compute->slots.empty(), "an order without slots");
    int32_t end = 0;
    for (const SlotRange& range : compute->slots) {
      Promise(range.begin >= end && range.size() > 0, "slot ranges ascend and are not empty");
      end = range.end;
    }
    Promise(end <= job_.training.slots, "an order for a slot that the step does not have");
  } else if (const auto* evaluate = std::get_if<EvaluateOrder>(&work)) {
    Promise(evaluate->version == version, "an evaluation of another version");
    Promise(!evaluate->units.empty(), "an evaluation of nothing");
  } else if (std::holds_alternative<FinishedOrder>(work)) {
    Promise(coordinator_->phase() == Phase::kFinished, "finished before the end");
  }
}

void ClusterModel::Begin(Worker& worker, const Work& order) {
  if (std::holds_alternative<WaitOrder>(order)) return;
  worker.order = order;
  worker.slots.clear();
  if (const auto* compute = std::get_if<ComputeOrder>(&order)) {
    worker.slots = SlotsOf({*compute});
    if (compute->step == coordinator_->version() - 1) ++counts_.orphans_by_ask;
  } else if (const auto* evaluate = std::get_if<EvaluateOrder>(&order)) {
    worker.units = evaluate->units;
  } else {
    worker.has_finished = true;
  }
}

void ClusterModel::GoOn(Worker& worker) {
  if (!worker.order.has_value()) {
    std::optional<Work> work = std::exchange(worker.next, std::nullopt);
    if (!work.has_value()) work = AskForWork(worker);
    if (work.has_value()) Begin(worker, *work);
  } else if (const auto* compute = std::get_if<ComputeOrder>(&*worker.order)) {
    GoOnComputing(worker, compute->step);
  } else {
    GoOnEvaluating(worker, std::get<EvaluateOrder>(*worker.order).version);
  }
}

void ClusterModel::GoOnComputing(Worker& worker, Step step) {
  if (!worker.slots.empty()) {
    const auto slot = Pick(worker.slots, random_());
    const Parameters parameters = Find(step);
    if (parameters == Parameters::kNotYet) return;
    if (parameters == Parameters::kThere) Compute(worker, *slot);
    worker.slots.erase(slot);
    return;
  }
  if (EveryShardHas(step + 1)) {
    worker.order.reset();
  } else if (shards_[0].version > step && !worker.next.has_value() && Chance(50)) {
    worker.next = AskForWork(worker);
  }
}

void ClusterModel::GoOnEvaluating(Worker& worker, Version version) {
  if (worker.units.empty()) {
    worker.order.reset();
    return;
  }
  const Parameters parameters = Find(version);
  if (parameters == Parameters::kNotYet) return;
  if (parameters == Parameters::kThere) {
    worker.results.push_back(Evaluate(version, worker.units.back()));
  }
  worker.units.pop_back();
}

void ClusterModel::ComputeExtra(Worker& worker) {
  const auto slot = Pick(worker.extra, random_());
  const Parameters parameters = Find(slot->step);
  if (parameters == Parameters::kNotYet) return;
  if (parameters == Parameters::kThere) Compute(worker, *slot);
  worker.extra.erase(slot);
}

void ClusterModel::Compute(Worker& worker, Slot slot) {
  worker.computed.insert(slot);
  for (size_t shard = 0; shard < shards_.size(); ++shard) {
    worker.unanswered.insert({slot, shard});
  }
}

void ClusterModel::SendOnePush(Worker& worker) {
  const auto push = std::next(worker.unanswered.begin(),
                              static_cast<std::ptrdiff_t>(Below(worker.unanswered.size())));
  if (Chance(10)) late_.emplace_back(*push);
  if (Chance(90)) Arrive(*push);
  if (Chance(100 - kLostAnswerPercent)) {
    Arrive(*push);
    worker.unanswered.erase(push);
  }
}

void ClusterModel::Arrive(const Push& push) {
  Shard& shard = shards_[push.shard];
  Promise(push.slot.step <= shard.version, "a push for a step that has not begun");
  if (push.slot.step != shard.version) return;
  shard.arrived.insert(push.slot.slot);
  const auto [least, most] =
      std::minmax_element(shards_.begin(), shards_.end(),
                          [](const Shard& a, const Shard& b) { return a.version < b.version; });
  if (least->version != most->version) ++counts_.shards_apart;
  if (static_cast<int32_t>(shard.arrived.size()) < job_.training.slots) return;
  ++shard.version;
  shard.arrived.clear();
  Promise(most->version - least->version <= 1, "shards are more than one step apart");
  if (push.shard != 0) return;
  const SampleRange samples = coordinator_->plan()->StepSamples(push.slot.step);
  coordinator_->StepCompleted(shard.version, {.samples = samples.size()}, now_);
  Promise(coordinator_->version() == newest_ + 1, "a version follows the one before");
  newest_ = coordinator_->version();
}

ClusterModel::Parameters ClusterModel::Find(Version version) const {
  Parameters found = Parameters::kThere;
  for (const Shard& shard : shards_) {
    // The two newest are kept.
    if (shard.version > version + 1) return Parameters::kGone;
    if (shard.version < version) found = Parameters::kNotYet;
  }
  return found;
}

bool ClusterModel::EveryShardHas(Version version) const {
  return std::all_of(shards_.begin(), shards_.end(),
                     [&](const Shard& shard) { return shard.version >= version; });
}

EvaluationResult ClusterModel::Evaluate(Version version, int32_t unit) const {
  const int64_t begin = unit * job_.evaluation.batch;
  const int64_t samples = std::min(job_.evaluation.batch, data_.test_samples - begin);
  return {.version = version,
          .unit = unit,
          .statistics = {.samples = samples, .correct = CorrectOf(version, unit, samples)}};
}

void ClusterModel::CheckEvaluations() {
  for (; evaluations_seen_ < coordinator_->evaluations().size(); ++evaluations_seen_) {
    const EvaluationSummary& summary = coordinator_->evaluations()[evaluations_seen_];
    ++counts_.evaluations;
    Promise(summary.statistics.samples == data_.test_samples,
            absl::StrCat("every test image is evaluated once: found ", summary.statistics.samples,
                         " of ", data_.test_samples));
    int64_t correct = 0;
    for (int32_t unit = 0; unit * job_.evaluation.batch < data_.test_samples; ++unit) {
      correct += Evaluate(summary.version, unit).statistics.correct;
    }
    Promise(summary.statistics.correct == correct, "every unit's own result counts");
  }
}

void ClusterModel::CheckEnd() {
  if (!broken_.empty()) return;
  Promise(workers_.empty() && coordinator_->phase() == Phase::kFinished,
          absl::StrCat("the job ends: stuck at version ", coordinator_->version()));
  if (!broken_.empty()) return;

  // Epochs of ceil(samples / batch) steps, cut off by max_steps; an evaluation at the end, and one
  // after every so many epochs.
  std::vector<Version> expected;
  Version version = 0;
  for (int64_t epoch = 1; epoch <= job_.training.epochs; ++epoch) {
    for (int64_t done = 0; done < data_.train_samples; done += job_.training.global_batch) {
      if (job_.training.max_steps > 0 && version == job_.training.max_steps) break;
      ++version;
      const bool epoch_ends = done + job_.training.global_batch >= data_.train_samples;
      const int64_t every = job_.evaluation.every_epochs;
      if (epoch_ends && every > 0 && epoch % every == 0) expected.push_back(version);
    }
  }
  if (expected.empty() || expected.back() != version) expected.push_back(version);

  for (const Shard& shard : shards_) {
    Promise(shard.version == version, absl::StrCat("a shard ended at version ", shard.version,
                                                   ", the job has ", version, " steps"));
  }
  std::vector<Version> found;
  for (const auto& summary : coordinator_->evaluations()) found.push_back(summary.version);
  Promise(found == expected, "the evaluations are those that the job file asks for");
  coordinator_->Close();
  Promise(coordinator_->phase() == Phase::kClosed, "a finished job can be closed");
}

}  // namespace tributary
