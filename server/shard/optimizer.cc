#include "server/shard/optimizer.h"

#include <utility>
#include <variant>

#include "server/shard/optimizer_kinds.h"
#include "server/shard/optimizer_runs.h"

namespace tributary {

std::unique_ptr<Optimizer> CreateOptimizer(const OptimizerConfig& config, const Layout& layout,
                                           ElementRange range) {
  const bool decays =
      std::visit([](const auto& kind) { return kind.weight_decay != 0; }, config.kind);
  DecayRuns runs(layout, range, decays && config.no_decay_on_bias);
  if (const auto* adam = std::get_if<AdamConfig>(&config.kind)) {
    return CreateAdam(*adam, std::move(runs));
  }
  if (const auto* adagrad = std::get_if<AdaGradConfig>(&config.kind)) {
    return CreateAdaGrad(*adagrad, std::move(runs));
  }
  return CreateSgd(std::get<SgdConfig>(config.kind), std::move(runs));
}

}  // namespace tributary
