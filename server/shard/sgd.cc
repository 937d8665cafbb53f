// Stochastic gradient descent as torch.optim.SGD:
//
//   g = gradient / samples + weight_decay * p
//   b = g                                            in the first update
//   b = momentum * b + (1 - dampening) * g           afterwards
//   p = p - learning_rate * (nesterov ? g + momentum * b : b)
//
// Without momentum there is no b: p = p - learning_rate * g.
#include <cstdint>
#include <utility>
#include <vector>

#include "server/shard/optimizer_kinds.h"

namespace tributary {
namespace {

struct Factors {
  float samples;
  float weight_decay;
  float learning_rate;
  float momentum;
  float kept;   // of b
  float taken;  // of g
};

struct Elements {
  int64_t count;
  const float* gradient;
  const float* before;
  float* momentum_buffer;  // kMomentum alone
  float* after;
};

template <bool kDecay, bool kMomentum, bool kNesterov>
inline void UpdateElements(const Factors f, const Elements& e) {
  const float* __restrict gradient = e.gradient;
  const float* __restrict before = e.before;
  float* __restrict buffer = e.momentum_buffer;
  float* __restrict after = e.after;
  for (int64_t i = 0; i < e.count; ++i) {
    float g = gradient[i] / f.samples;
    if constexpr (kDecay) g += f.weight_decay * before[i];
    if constexpr (kMomentum) {
      const float b = f.kept * buffer[i] + f.taken * g;
      buffer[i] = b;
      g = kNesterov ? g + f.momentum * b : b;
    }
    after[i] = before[i] - f.learning_rate * g;
  }
}

template <bool kDecay>
inline void UpdateWith(const Factors& f, bool nesterov, const Elements& e) {
  if (e.momentum_buffer == nullptr) {
    UpdateElements<kDecay, false, false>(f, e);
  } else if (nesterov) {
    UpdateElements<kDecay, true, true>(f, e);
  } else {
    UpdateElements<kDecay, true, false>(f, e);
  }
}

void Update(const Factors& f, bool decays, bool nesterov, const Elements& e) {
  if (decays) {
    UpdateWith<true>(f, nesterov, e);
  } else {
    UpdateWith<false>(f, nesterov, e);
  }
}

class Sgd : public Optimizer {
 public:
  Sgd(const SgdConfig& config, DecayRuns runs)
      : config_(config),
        runs_(std::move(runs)),
        has_momentum_(config.momentum != 0),
        momentum_buffer_(has_momentum_ ? runs_.elements() : 0) {}

  void Apply(ElementRange part, absl::Span<const float> gradient, int64_t samples,
             double learning_rate, int64_t update, absl::Span<const float> before,
             absl::Span<float> after) override {
    const bool first = update == 0;
    const Factors factors{
        .samples = static_cast<float>(samples),
        .weight_decay = static_cast<float>(config_.weight_decay),
        .learning_rate = static_cast<float>(learning_rate),
        .momentum = static_cast<float>(config_.momentum),
        .kept = first ? 0.0f : static_cast<float>(config_.momentum),
        .taken = first ? 1.0f : static_cast<float>(1 - config_.dampening),
    };
    runs_.ForEachPiece(part, [&](ElementRange piece, bool decays) {
      const int64_t at = piece.begin - part.begin;
      Update(factors, decays && config_.weight_decay != 0, config_.nesterov,
             {.count = piece.size(),
              .gradient = gradient.data() + at,
              .before = before.data() + at,
              .momentum_buffer = has_momentum_ ? momentum_buffer_.data() + piece.begin : nullptr,
              .after = after.data() + at});
    });
  }

  std::vector<State> state() override {
    if (!has_momentum_) return {};
    return {{"momentum_buffer", absl::MakeSpan(momentum_buffer_)}};
  }

 private:
  const SgdConfig config_;
  const DecayRuns runs_;
  const bool has_momentum_;
  std::vector<float> momentum_buffer_;
};

}  // namespace

std::unique_ptr<Optimizer> CreateSgd(const SgdConfig& config, DecayRuns runs) {
  return std::make_unique<Sgd>(config, std::move(runs));
}

}  // namespace tributary
