// AdaGrad (Duchi, Hazan and Singer, JMLR 2011) as torch.optim.Adagrad. In update t = 0, 1, ...
//
//   g = gradient / samples + weight_decay * p
//   s = s + g^2                                      s starts as initial_accumulator
//   p = p - learning_rate / (1 + t * learning_rate_decay) * g / (sqrt(s) + epsilon)
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "server/shard/optimizer_clones.h"
#include "server/shard/optimizer_kinds.h"

namespace tributary {
namespace {

struct Factors {
  float samples;
  float weight_decay;
  float learning_rate;
  float epsilon;
};

struct Elements {
  int64_t count;
  const float* gradient;
  const float* before;
  float* sum;
  float* after;
};

template <bool kDecay>
inline void UpdateElements(const Factors f, const Elements& e) {
  const float* __restrict gradient = e.gradient;
  const float* __restrict before = e.before;
  float* __restrict sum = e.sum;
  float* __restrict after = e.after;
  for (int64_t i = 0; i < e.count; ++i) {
    float g = gradient[i] / f.samples;
    if constexpr (kDecay) g += f.weight_decay * before[i];
    const float s = sum[i] + g * g;
    sum[i] = s;
    after[i] = before[i] - f.learning_rate * (g / (std::sqrt(s) + f.epsilon));
  }
}

TRIBUTARY_CPU_CLONES
void Update(const Factors& f, bool decays, const Elements& e) {
  if (decays) {
    UpdateElements<true>(f, e);
  } else {
    UpdateElements<false>(f, e);
  }
}

class AdaGrad : public Optimizer {
 public:
  AdaGrad(const AdaGradConfig& config, DecayRuns runs)
      : config_(config),
        runs_(std::move(runs)),
        sum_(runs_.elements(), static_cast<float>(config.initial_accumulator)) {}

  void Apply(ElementRange part, absl::Span<const float> gradient, int64_t samples,
             double learning_rate, int64_t update, absl::Span<const float> before,
             absl::Span<float> after) override {
    const double slowed_by = 1 + static_cast<double>(update) * config_.learning_rate_decay;
    const Factors factors{
        .samples = static_cast<float>(samples),
        .weight_decay = static_cast<float>(config_.weight_decay),
        .learning_rate = static_cast<float>(learning_rate / slowed_by),
        .epsilon = static_cast<float>(config_.epsilon),
    };
    runs_.ForEachPiece(part, [&](ElementRange piece, bool decays) {
      const int64_t at = piece.begin - part.begin;
      Update(factors, decays && config_.weight_decay != 0,
             {.count = piece.size(),
              .gradient = gradient.data() + at,
              .before = before.data() + at,
              .sum = sum_.data() + piece.begin,
              .after = after.data() + at});
    });
  }

  std::vector<State> state() override { return {{"sum", absl::MakeSpan(sum_)}}; }

 private:
  const AdaGradConfig config_;
  const DecayRuns runs_;
  std::vector<float> sum_;
};

}  // namespace

std::unique_ptr<Optimizer> CreateAdaGrad(const AdaGradConfig& config, DecayRuns runs) {
  return std::make_unique<AdaGrad>(config, std::move(runs));
}

}  // namespace tributary
