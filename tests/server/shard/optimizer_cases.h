// Every optimizer with every kind of option, by the names that make_optimizer_reference.py uses,
// and the small layout that its numbers are for.
#ifndef TRIBUTARY_TESTS_SERVER_SHARD_OPTIMIZER_CASES_H_
#define TRIBUTARY_TESTS_SERVER_SHARD_OPTIMIZER_CASES_H_

#include <ostream>
#include <string>
#include <vector>

#include "common/job/job.h"
#include "common/model/layout.h"

namespace tributary {

struct OptimizerCase {
  std::string name;
  double learning_rate;
  OptimizerConfig config;

  friend void PrintTo(const OptimizerCase& c, std::ostream* out) { *out << c.name; }
};

inline std::vector<OptimizerCase> OptimizerCases() {
  return {
      {"sgd", 0.1, {.kind = SgdConfig{}}},
      {"sgd_weight_decay", 0.1, {.kind = SgdConfig{.weight_decay = 0.05}}},
      {"sgd_momentum", 0.1, {.kind = SgdConfig{.momentum = 0.9}}},
      {"sgd_dampening", 0.1, {.kind = SgdConfig{.momentum = 0.9, .dampening = 0.3}}},
      {"sgd_nesterov", 0.1, {.kind = SgdConfig{.momentum = 0.9, .nesterov = true}}},
      {"sgd_everything",
       0.1,
       {.kind = SgdConfig{.momentum = 0.8, .dampening = 0.1, .weight_decay = 0.05}}},
      {"sgd_spared_biases",
       0.1,
       {.kind = SgdConfig{.momentum = 0.9, .nesterov = true, .weight_decay = 0.05},
        .no_decay_on_bias = true}},
      {"adam", 0.01, {.kind = AdamConfig{}}},
      {"adam_options",
       0.01,
       {.kind = AdamConfig{.beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3, .weight_decay = 0.05}}},
      {"adamw", 0.01, {.kind = AdamConfig{.weight_decay = 0.1, .decoupled_weight_decay = true}}},
      {"adamw_spared_biases",
       0.01,
       {.kind = AdamConfig{.weight_decay = 0.1, .decoupled_weight_decay = true},
        .no_decay_on_bias = true}},
      {"adagrad", 0.1, {.kind = AdaGradConfig{}}},
      {"adagrad_options",
       0.1,
       {.kind = AdaGradConfig{.epsilon = 1e-3,
                              .initial_accumulator = 0.2,
                              .weight_decay = 0.05,
                              .learning_rate_decay = 0.1}}},
      {"adagrad_spared_biases",
       0.1,
       {.kind = AdaGradConfig{.weight_decay = 0.05}, .no_decay_on_bias = true}},
      {"adam_keras_epsilon", 0.01, {.kind = AdamConfig{.epsilon = 1e-2, .keras_epsilon = true}}},
  };
}

inline Layout OptimizerTestLayout() {
  return *Layout::Create({{.name = "conv.weight", .shape = {3, 1, 3, 3}},
                          {.name = "conv.bias", .shape = {3}, .is_bias = true},
                          {.name = "fc.weight", .shape = {2, 9}}});
}

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_SERVER_SHARD_OPTIMIZER_CASES_H_
