// Adam (Kingma and Ba, "Adam: a method for stochastic optimization", ICLR 2015) as
// torch.optim.Adam, and with decoupled weight decay (Loshchilov and Hutter, ICLR 2019) as
// torch.optim.AdamW. In update t = 1, 2, ...
//
//   g = gradient / samples + weight_decay * p        Adam
//   p = p - learning_rate * weight_decay * p         AdamW, which leaves g alone
//   m = beta1 * m + (1 - beta1) * g
//   v = beta2 * v + (1 - beta2) * g^2
//   p = p - learning_rate / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
//
// Keras (keras.optimizers.Adam) adds epsilon before the second moment is corrected:
//
//   p = p - learning_rate * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon)
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "server/shard/optimizer_clones.h"
#include "server/shard/optimizer_kinds.h"
#include "server/shard/optimizer_math.h"

namespace tributary {
namespace {

struct Factors {
  float samples;
  float weight_decay;    // of g; 0 for AdamW
  float parameter_kept;  // AdamW: 1 - learning_rate * weight_decay; 1 for Adam
  float beta1;
  float one_minus_beta1;
  float beta2;
  float one_minus_beta2;
  float root_scale;  // of sqrt(v)
  float epsilon;
  float step_size;
};

struct Elements {
  int64_t count;
  const float* gradient;
  const float* before;
  float* exp_avg;
  float* exp_avg_sq;
  float* after;
};

template <bool kDecay>
inline void UpdateElements(const Factors f, const Elements& e) {
  const float* __restrict gradient = e.gradient;
  const float* __restrict before = e.before;
  float* __restrict exp_avg = e.exp_avg;
  float* __restrict exp_avg_sq = e.exp_avg_sq;
  float* __restrict after = e.after;
  for (int64_t i = 0; i < e.count; ++i) {
    float g = gradient[i] / f.samples;
    float p = before[i];
    if constexpr (kDecay) {
      g += f.weight_decay * p;
      p *= f.parameter_kept;
    }
    const float m = f.beta1 * exp_avg[i] + f.one_minus_beta1 * g;
    const float v = f.beta2 * exp_avg_sq[i] + f.one_minus_beta2 * (g * g);
    exp_avg[i] = m;
    exp_avg_sq[i] = v;
    after[i] = p - f.step_size * (m / (std::sqrt(v) * f.root_scale + f.epsilon));
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

class Adam : public Optimizer {
 public:
  Adam(const AdamConfig& config, DecayRuns runs)
      : config_(config),
        runs_(std::move(runs)),
        exp_avg_(runs_.elements()),
        exp_avg_sq_(runs_.elements()) {}

  void Apply(ElementRange part, absl::Span<const float> gradient, int64_t samples,
             double learning_rate, int64_t update, absl::Span<const float> before,
             absl::Span<float> after) override {
    const Factors factors = FactorsOf(samples, learning_rate, update);
    runs_.ForEachPiece(part, [&](ElementRange piece, bool decays) {
      const int64_t at = piece.begin - part.begin;
      Update(factors, decays && config_.weight_decay != 0,
             {.count = piece.size(),
              .gradient = gradient.data() + at,
              .before = before.data() + at,
              .exp_avg = exp_avg_.data() + piece.begin,
              .exp_avg_sq = exp_avg_sq_.data() + piece.begin,
              .after = after.data() + at});
    });
  }

  std::vector<State> state() override {
    return {{"exp_avg", absl::MakeSpan(exp_avg_)}, {"exp_avg_sq", absl::MakeSpan(exp_avg_sq_)}};
  }

 private:
  Factors FactorsOf(int64_t samples, double learning_rate, int64_t update) const {
    const bool decoupled = config_.decoupled_weight_decay;
    const double correction1 = 1 - IntegerPower(config_.beta1, update + 1);
    const double root_correction2 = std::sqrt(1 - IntegerPower(config_.beta2, update + 1));
    const double step_size = learning_rate / correction1;
    return {
        .samples = static_cast<float>(samples),
        .weight_decay = static_cast<float>(decoupled ? 0 : config_.weight_decay),
        .parameter_kept =
            static_cast<float>(decoupled ? 1 - learning_rate * config_.weight_decay : 1),
        .beta1 = static_cast<float>(config_.beta1),
        .one_minus_beta1 = static_cast<float>(1 - config_.beta1),
        .beta2 = static_cast<float>(config_.beta2),
        .one_minus_beta2 = static_cast<float>(1 - config_.beta2),
        .root_scale = static_cast<float>(config_.keras_epsilon ? 1 : 1 / root_correction2),
        .epsilon = static_cast<float>(config_.epsilon),
        .step_size =
            static_cast<float>(config_.keras_epsilon ? step_size * root_correction2 : step_size),
    };
  }

  const AdamConfig config_;
  const DecayRuns runs_;
  std::vector<float> exp_avg_;
  std::vector<float> exp_avg_sq_;
};

}  // namespace

std::unique_ptr<Optimizer> CreateAdam(const AdamConfig& config, DecayRuns runs) {
  return std::make_unique<Adam>(config, std::move(runs));
}

}  // namespace tributary
