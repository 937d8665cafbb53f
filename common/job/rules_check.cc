#include "common/job/rules_check.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/field_text.h"
#include "common/job/job_check.h"

namespace tributary {
namespace {

// The least epsilon that fp32 holds with all its digits; a smaller one may be rounded to zero, and
// a parameter without a gradient become 0 / 0.
constexpr double kMinEpsilon = 1.2e-38;

// The numbers of one message; NaN is refused by every check.
class Numbers {
 public:
  Numbers(std::string path, const Checks& checks) : path_(std::move(path)), checks_(checks) {}

  std::string Path(const char* field) const { return absl::StrCat(path_, ".", field); }

  absl::Status NotNegative(const char* field, double found) const {
    return checks_.Require(found >= 0, Path(field), found, "0 or more");
  }
  absl::Status BelowOne(const char* field, double found) const {
    return checks_.Require(found >= 0 && found < 1, Path(field), found, "0 to below 1");
  }
  absl::Status Epsilon(double found) const {
    return checks_.Require(found >= kMinEpsilon, Path("epsilon"), found,
                           absl::StrCat("a positive number, ", kMinEpsilon, " or more"));
  }
  const Checks& checks() const { return checks_; }

 private:
  std::string path_;
  const Checks& checks_;
};

absl::StatusOr<SgdConfig> ReadSgd(const v1::Sgd& spec, const Numbers& numbers) {
  RETURN_IF_ERROR(numbers.BelowOne("momentum", spec.momentum()));
  RETURN_IF_ERROR(numbers.checks().Require(spec.dampening() >= 0 && spec.dampening() <= 1,
                                           numbers.Path("dampening"), spec.dampening(), "0 to 1"));
  RETURN_IF_ERROR(numbers.NotNegative("weight_decay", spec.weight_decay()));
  // PyTorch's condition.
  RETURN_IF_ERROR(numbers.checks().Require(
      !spec.nesterov() || (spec.momentum() > 0 && spec.dampening() == 0), numbers.Path("nesterov"),
      absl::StrCat("true with momentum ", spec.momentum(), " and dampening ", spec.dampening()),
      "true with a positive momentum and dampening 0 alone"));
  return SgdConfig{.momentum = spec.momentum(),
                   .dampening = spec.dampening(),
                   .nesterov = spec.nesterov(),
                   .weight_decay = spec.weight_decay()};
}

absl::StatusOr<AdamConfig> ReadAdam(const v1::Adam& spec, bool decoupled, const Numbers& numbers) {
  AdamConfig adam;
  if (spec.has_beta1()) adam.beta1 = spec.beta1();
  if (spec.has_beta2()) adam.beta2 = spec.beta2();
  if (spec.has_epsilon()) adam.epsilon = spec.epsilon();
  adam.weight_decay = spec.weight_decay();
  adam.decoupled_weight_decay = decoupled;
  adam.keras_epsilon = spec.keras_epsilon();
  RETURN_IF_ERROR(numbers.BelowOne("beta1", adam.beta1));
  RETURN_IF_ERROR(numbers.BelowOne("beta2", adam.beta2));
  RETURN_IF_ERROR(numbers.Epsilon(adam.epsilon));
  RETURN_IF_ERROR(numbers.NotNegative("weight_decay", adam.weight_decay));
  return adam;
}

absl::StatusOr<AdaGradConfig> ReadAdaGrad(const v1::AdaGrad& spec, const Numbers& numbers) {
  AdaGradConfig adagrad;
  if (spec.has_epsilon()) adagrad.epsilon = spec.epsilon();
  adagrad.initial_accumulator = spec.initial_accumulator();
  adagrad.weight_decay = spec.weight_decay();
  adagrad.learning_rate_decay = spec.learning_rate_decay();
  RETURN_IF_ERROR(numbers.Epsilon(adagrad.epsilon));
  RETURN_IF_ERROR(numbers.NotNegative("initial_accumulator", adagrad.initial_accumulator));
  RETURN_IF_ERROR(numbers.NotNegative("weight_decay", adagrad.weight_decay));
  RETURN_IF_ERROR(numbers.NotNegative("learning_rate_decay", adagrad.learning_rate_decay));
  return adagrad;
}

}  // namespace

absl::StatusOr<OptimizerConfig> CheckOptimizer(const v1::OptimizerSpec& spec,
                                               const Checks& checks) {
  OptimizerConfig optimizer;
  optimizer.no_decay_on_bias = spec.no_decay_on_bias();
  switch (spec.kind_case()) {
    case v1::OptimizerSpec::kSgd: {
      ASSIGN_OR_RETURN(optimizer.kind, ReadSgd(spec.sgd(), Numbers("optimizer.sgd", checks)));
      return optimizer;
    }
    case v1::OptimizerSpec::kAdam: {
      ASSIGN_OR_RETURN(optimizer.kind,
                       ReadAdam(spec.adam(), false, Numbers("optimizer.adam", checks)));
      return optimizer;
    }
    case v1::OptimizerSpec::kAdamw: {
      ASSIGN_OR_RETURN(optimizer.kind,
                       ReadAdam(spec.adamw(), true, Numbers("optimizer.adamw", checks)));
      return optimizer;
    }
    case v1::OptimizerSpec::kAdagrad: {
      ASSIGN_OR_RETURN(optimizer.kind,
                       ReadAdaGrad(spec.adagrad(), Numbers("optimizer.adagrad", checks)));
      return optimizer;
    }
    case v1::OptimizerSpec::KIND_NOT_SET:
      break;
  }
  return checks.Refuse(
      "optimizer", "none",
      absl::StrCat("one of ", FieldNames(*spec.GetDescriptor()->FindOneofByName("kind"))));
}

absl::StatusOr<LearningRateConfig> CheckLearningRate(const v1::LearningRateSpec& spec,
                                                     const Checks& checks) {
  LearningRateConfig rate;
  rate.base = spec.base();
  RETURN_IF_ERROR(
      checks.Require(rate.base > 0, "learning_rate.base", rate.base, "a positive number"));
  ASSIGN_OR_RETURN(rate.warmup_steps, checks.Between("learning_rate.warmup_steps",
                                                     spec.warmup_steps(), 0, kMaxJobSteps));
  if (spec.has_step()) {
    LearningRateConfig::StepDecay step;
    ASSIGN_OR_RETURN(step.every_epochs, checks.Between("learning_rate.step.every_epochs",
                                                       spec.step().every_epochs(), 1, kMaxEpochs));
    step.factor = spec.step().factor();
    RETURN_IF_ERROR(checks.Require(step.factor > 0 && step.factor <= 1, "learning_rate.step.factor",
                                   step.factor, "above 0, up to 1"));
    rate.schedule = step;
  } else if (spec.has_cosine()) {
    const double minimum = spec.cosine().minimum();
    RETURN_IF_ERROR(checks.Require(minimum >= 0 && minimum <= rate.base,
                                   "learning_rate.cosine.minimum", minimum,
                                   absl::StrCat("0 to ", rate.base, " (learning_rate.base)")));
    rate.schedule = LearningRateConfig::Cosine{minimum};
  }
  return rate;
}

}  // namespace tributary
