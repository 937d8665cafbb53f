#include "common/job/job_check.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/checks.h"
#include "common/job/data_check.h"
#include "common/job/field_text.h"
#include "common/job/model_check.h"
#include "common/job/rules_check.h"
#include "common/job/scalar_check.h"
#include "common/job/transfer_check.h"

namespace tributary {
namespace {

// What a JobSpec without a name is called.
constexpr char kDefaultName[] = "job";

absl::StatusOr<std::string> CheckName(const std::string& found, const Checks& checks) {
  const std::string name = found.empty() ? kDefaultName : found;
  RETURN_IF_ERROR(checks.Require(
      IsPlainName(name) && name.front() != '.' && name.size() <= kMaxJobNameBytes, "name",
      Quoted(name),
      absl::StrCat("1 to ", kMaxJobNameBytes, " ", kPlainNameCharacters, ", no '.' at the start")));
  return name;
}

absl::Status CheckModelIsThere(const v1::JobSpec& spec, const Checks& checks) {
  RETURN_IF_ERROR(checks.Require(spec.model_file().empty(), "model_file", Quoted(spec.model_file()),
                                 "none: over the wire the model is written in"));
  RETURN_IF_ERROR(checks.Require(spec.has_model(), "model", "neither model nor model_file",
                                 "exactly one of the two"));
  // Before anything walks over the layers.
  return checks.Require(spec.model().layer_size() <= kMaxLayers, "model.layer",
                        absl::StrCat(spec.model().layer_size(), " layers"),
                        absl::StrCat("1 to ", kMaxLayers));
}

absl::StatusOr<TrainingConfig> CheckTraining(const v1::TrainingSpec& spec, const Checks& checks) {
  TrainingConfig training;
  ASSIGN_OR_RETURN(training.epochs,
                   checks.Between("training.epochs", spec.epochs(), 1, kMaxEpochs));
  ASSIGN_OR_RETURN(training.max_steps,
                   checks.Between("training.max_steps", spec.max_steps(), 0, kMaxJobSteps));
  ASSIGN_OR_RETURN(training.global_batch, checks.Between("training.global_batch",
                                                         spec.global_batch(), 1, kMaxGlobalBatch));
  const bool batch_is_less = training.global_batch < kMaxSlots;
  ASSIGN_OR_RETURN(const int64_t slots,
                   checks.BetweenOrDefault("training.slots", spec.slots(), 1, 1,
                                           std::min(training.global_batch, kMaxSlots),
                                           batch_is_less ? "training.global_batch" : ""));
  training.slots = static_cast<int32_t>(slots);
  ASSIGN_OR_RETURN(const int64_t min_workers,
                   checks.BetweenOrDefault("training.min_workers", spec.min_workers(), 1, 1, slots,
                                           "training.slots"));
  training.min_workers = static_cast<int32_t>(min_workers);
  RETURN_IF_ERROR(checks.Require(spec.precision() == v1::TrainingSpec::FP32, "training.precision",
                                 static_cast<int>(spec.precision()), "FP32"));
  return training;
}

absl::StatusOr<EvaluationConfig> CheckEvaluation(const v1::EvaluationSpec& spec,
                                                 const Checks& checks) {
  EvaluationConfig evaluation;
  ASSIGN_OR_RETURN(evaluation.every_epochs,
                   checks.Between("evaluation.every_epochs", spec.every_epochs(), 0, kMaxEpochs));
  ASSIGN_OR_RETURN(evaluation.batch,
                   checks.BetweenOrDefault("evaluation.batch", spec.batch(), evaluation.batch, 1,
                                           kMaxEvaluationBatch));
  return evaluation;
}

}  // namespace

absl::StatusOr<Job> CheckJob(const v1::JobSpec& spec, const SourceMap& sources) {
  const Checks checks(sources);
  RETURN_IF_ERROR(CheckModelIsThere(spec, checks));
  RETURN_IF_ERROR(CheckScalars(spec, "", checks));
  Job job;
  job.seed = spec.seed();
  ASSIGN_OR_RETURN(job.name, CheckName(spec.name(), checks));
  ASSIGN_OR_RETURN(job.model, CheckModel(spec.model(), checks));
  ASSIGN_OR_RETURN(job.data, CheckData(spec.data(), job.model, checks));
  ASSIGN_OR_RETURN(job.optimizer, CheckOptimizer(spec.optimizer(), checks));
  ASSIGN_OR_RETURN(job.learning_rate, CheckLearningRate(spec.learning_rate(), checks));
  ASSIGN_OR_RETURN(job.training, CheckTraining(spec.training(), checks));
  ASSIGN_OR_RETURN(job.evaluation, CheckEvaluation(spec.evaluation(), checks));
  ASSIGN_OR_RETURN(job.transfer, CheckTransfer(spec.transfer(), checks));
  return job;
}

}  // namespace tributary
