#include "server/shard/learning_rate.h"

#include <algorithm>
#include <variant>

#include "server/shard/optimizer_math.h"

namespace tributary {

double LearningRateAt(const LearningRateConfig& config, const BatchPlan& plan, Step step) {
  if (step < config.warmup_steps) {
    return config.base * static_cast<double>(step + 1) / static_cast<double>(config.warmup_steps);
  }
  if (const auto* decay = std::get_if<LearningRateConfig::StepDecay>(&config.schedule)) {
    return config.base * IntegerPower(decay->factor, plan.EpochOf(step) / decay->every_epochs);
  }
  if (const auto* cosine = std::get_if<LearningRateConfig::Cosine>(&config.schedule)) {
    const int64_t length = std::max<int64_t>(plan.total_steps() - config.warmup_steps, 1);
    const int64_t t = std::min(step - config.warmup_steps, length);
    const double progress = static_cast<double>(t) / static_cast<double>(length);
    return cosine->minimum + (config.base - cosine->minimum) * (1 + CosPi(progress)) / 2;
  }
  return config.base;
}

}  // namespace tributary
