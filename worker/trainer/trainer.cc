#include "worker/trainer/trainer.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace tributary {
namespace {

// Batches kept ready; more helps nobody, as the next step's wait for this one.
constexpr int kReadyBatches = 8;

}  // namespace

Trainer::Trainer(const Job& job, const Dataset& dataset, NetworkFactory factory,
                 ParameterClient& client)
    : job_(job),
      plan_(dataset.train.samples(), job.training.global_batch, job.training.slots,
            job.training.epochs, job.training.max_steps),
      factory_(std::move(factory)),
      client_(client),
      source_(dataset, job.data, plan_, job.seed, kReadyBatches),
      adopted_(job, dataset, source_, factory_, client),
      parameters_(static_cast<size_t>(job.model.layout.elements())) {}

absl::StatusOr<std::unique_ptr<Trainer>> Trainer::Create(const Job& job, const Dataset& dataset,
                                                         int threads, NetworkFactory factory,
                                                         ParameterClient& client) {
  std::unique_ptr<Trainer> trainer(new Trainer(job, dataset, std::move(factory), client));
  ASSIGN_OR_RETURN(trainer->pool_,
                   ComputePool::Create(job, dataset, trainer->source_, threads, trainer->factory_));
  return trainer;
}

void Trainer::Adopt(const std::vector<ComputeOrder>& orders) {
  std::vector<ComputeOrder> valid;
  for (const ComputeOrder& order : orders) {
    if (CheckOrder(order).ok()) valid.push_back(order);
  }
  adopted_.Adopt(valid);
}

absl::Status Trainer::Run() {
  ASSIGN_OR_RETURN(Work work, client_.NextWork({}));
  while (!std::holds_alternative<FinishedOrder>(work)) {
    if (const auto* compute = std::get_if<ComputeOrder>(&work)) {
      ASSIGN_OR_RETURN(work, Compute(*compute));
    } else if (const auto* evaluate = std::get_if<EvaluateOrder>(&work)) {
      ASSIGN_OR_RETURN(work, Evaluate(*evaluate));
    } else {
      ASSIGN_OR_RETURN(work, client_.NextWork({}));
    }
  }
  return absl::OkStatus();
}

absl::Status Trainer::CheckOrder(const ComputeOrder& order) const {
  if (order.step < 0 || order.step >= plan_.total_steps()) {
    return absl::InvalidArgumentError(absl::StrCat("compute.step: found ", order.step,
                                                   ", allowed 0 to ", plan_.total_steps() - 1));
  }
  for (const SlotRange& range : order.slots) {
    if (range.begin < 0 || range.end > plan_.slots()) {
      return absl::InvalidArgumentError(absl::StrCat("compute.slots: found [", range.begin, ", ",
                                                     range.end, "), allowed within [0, ",
                                                     plan_.slots(), ")"));
    }
  }
  return absl::OkStatus();
}

absl::Status Trainer::Have(Version version) {
  if (version_ == version) return absl::OkStatus();
  version_ = -1;
  RETURN_IF_ERROR(client_.Pull(version, absl::MakeSpan(parameters_)));
  version_ = version;
  pool_->SetParameters(parameters_);
  return absl::OkStatus();
}

absl::StatusOr<Work> Trainer::Compute(const ComputeOrder& order) {
  RETURN_IF_ERROR(CheckOrder(order));
  adopted_.Mark(order);
  const absl::Status have = Have(order.step);
  // The step is complete everywhere without this worker.
  if (absl::IsOutOfRange(have)) return client_.NextWork({});
  RETURN_IF_ERROR(have);
  const std::vector<int32_t> slots = SlotsOf(order);
  source_.Expect(order.step, slots);
  ASSIGN_OR_RETURN(const std::vector<NodeGradient> gradients,
                   pool_->ComputeGradients(order.step, slots));
  version_ = -1;
  absl::StatusOr<Work> next = client_.PushPull(order.step, gradients, absl::MakeSpan(parameters_));
  if (absl::IsOutOfRange(next.status())) return client_.NextWork({});
  RETURN_IF_ERROR(next.status());
  version_ = order.step + 1;
  pool_->SetParameters(parameters_);
  return next;
}

absl::StatusOr<Work> Trainer::Evaluate(const EvaluateOrder& order) {
  const absl::Status have = Have(order.version);
  if (absl::IsOutOfRange(have)) return client_.NextWork({});
  RETURN_IF_ERROR(have);
  ASSIGN_OR_RETURN(const std::vector<EvaluationResult> results, pool_->Evaluate(order));
  return client_.NextWork(results);
}

}  // namespace tributary
