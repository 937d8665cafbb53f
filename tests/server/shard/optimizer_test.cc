// What holds for every optimizer: an element's bits depend on nothing but its own history.
#include "server/shard/optimizer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/server/shard/optimizer_cases.h"

namespace tributary {
namespace {

constexpr int kUpdates = 5;
constexpr int64_t kSamples = 7;

// Tensors of awkward sizes, so that vector bodies and scalar tails fall everywhere.
Layout AwkwardLayout() {
  return *Layout::Create({{.name = "a.weight", .shape = {37, 5}},
                          {.name = "a.bias", .shape = {37}, .is_bias = true},
                          {.name = "b.weight", .shape = {1}},
                          {.name = "b.bias", .shape = {1}, .is_bias = true},
                          {.name = "c.weight", .shape = {131}}});
}

// Gradients from 1e-6 to 1e6, of both signs.
std::vector<float> RandomValues(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> exponent(-6, 6);
  std::vector<float> values(count);
  for (float& value : values) {
    value = std::pow(10.0f, exponent(random)) * (random() % 2 == 0 ? 1.0f : -1.0f);
  }
  return values;
}

std::vector<uint32_t> Bits(absl::Span<const float> values) {
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

// How a vector is cut: into shards, and each update of a shard into parts.
struct Cut {
  ShardId shards;
  int64_t part_elements;
};

// Parameters after kUpdates, followed by the state arrays one after the other.
std::vector<uint32_t> Train(const OptimizerCase& c, const Layout& layout, Cut cut) {
  std::vector<float> parameters = RandomValues(layout.elements(), 1);
  std::vector<std::vector<float>> states;
  for (ShardId shard = 0; shard < cut.shards; ++shard) {
    const ElementRange range = layout.ShardRange(shard, cut.shards);
    const auto optimizer = CreateOptimizer(c.config, layout, range);
    for (int update = 0; update < kUpdates; ++update) {
      const std::vector<float> gradient = RandomValues(layout.elements(), 100 + update);
      const std::vector<float> before = parameters;
      for (int64_t begin = 0; begin < range.size(); begin += cut.part_elements) {
        const ElementRange part{begin, std::min(begin + cut.part_elements, range.size())};
        const size_t at = range.begin + part.begin;
        const size_t size = part.size();
        optimizer->Apply(part, absl::MakeConstSpan(gradient).subspan(at, size), kSamples,
                         c.learning_rate, update, absl::MakeConstSpan(before).subspan(at, size),
                         absl::MakeSpan(parameters).subspan(at, size));
      }
    }
    const std::vector<Optimizer::State> arrays = optimizer->state();
    states.resize(arrays.size());
    for (size_t i = 0; i < arrays.size(); ++i) {
      EXPECT_EQ(static_cast<int64_t>(arrays[i].values.size()), range.size());
      states[i].insert(states[i].end(), arrays[i].values.begin(), arrays[i].values.end());
    }
  }
  for (const std::vector<float>& state : states) {
    parameters.insert(parameters.end(), state.begin(), state.end());
  }
  return Bits(parameters);
}

class OptimizerTest : public testing::TestWithParam<OptimizerCase> {};

TEST_P(OptimizerTest, BitsDoNotDependOnShardsAndParts) {
  const Layout layout = AwkwardLayout();
  const std::vector<uint32_t> whole = Train(GetParam(), layout, {1, layout.elements()});
  for (const ShardId shards : {1, 2, 3, 5, 100}) {
    for (const int64_t part : {1, 3, 16, 33, 100, 1000}) {
      EXPECT_EQ(Train(GetParam(), layout, {shards, part}), whole)
          << shards << " shards, parts of " << part;
    }
  }
}

TEST_P(OptimizerTest, PartsMayBeAppliedByDifferentThreads) {
  const Layout layout = AwkwardLayout();
  const ElementRange all{0, layout.elements()};
  const auto optimizer = CreateOptimizer(GetParam().config, layout, all);
  const std::vector<float> before = RandomValues(layout.elements(), 1);
  const std::vector<float> gradient = RandomValues(layout.elements(), 2);
  std::vector<float> after(layout.elements());
  const auto apply = [&](Optimizer& to, ElementRange part, std::vector<float>& out) {
    const size_t at = part.begin;
    const size_t size = part.size();
    to.Apply(part, absl::MakeConstSpan(gradient).subspan(at, size), kSamples,
             GetParam().learning_rate, 0, absl::MakeConstSpan(before).subspan(at, size),
             absl::MakeSpan(out).subspan(at, size));
  };

  std::vector<std::thread> threads;
  constexpr int kThreads = 4;
  for (int i = 0; i < kThreads; ++i) {
    const ElementRange part{all.size() * i / kThreads, all.size() * (i + 1) / kThreads};
    threads.emplace_back([&, part] { apply(*optimizer, part, after); });
  }
  for (std::thread& thread : threads) thread.join();

  std::vector<float> expected(layout.elements());
  apply(*CreateOptimizer(GetParam().config, layout, all), all, expected);
  EXPECT_EQ(Bits(after), Bits(expected));
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerTest, testing::ValuesIn(OptimizerCases()),
                         [](const auto& test) { return test.param.name; });

// One element after the other, in the order of operations that the bits of a training run rest on.
// `volatile` keeps the compiler from any idea of its own.
TEST(Optimizer, VectorLoopsGiveTheBitsOfScalarArithmetic) {
  const Layout layout = AwkwardLayout();
  const ElementRange all{0, layout.elements()};
  const std::vector<float> before = RandomValues(layout.elements(), 1);
  const std::vector<float> gradient = RandomValues(layout.elements(), 2);
  std::vector<float> sgd(layout.elements());
  std::vector<float> adam(layout.elements());
  CreateOptimizer({.kind = SgdConfig{.momentum = 0.9, .nesterov = true, .weight_decay = 0.1}},
                  layout, all)
      ->Apply(all, gradient, 3, 0.1, 0, before, absl::MakeSpan(sgd));
  CreateOptimizer({.kind = AdamConfig{.epsilon = 0.1, .keras_epsilon = true}}, layout, all)
      ->Apply(all, gradient, 3, 0.5, 0, before, absl::MakeSpan(adam));

  // 0.5 * sqrt(1 - 0.999) / (1 - 0.9)
  const auto keras_rate = static_cast<float>(0.5 / (1 - 0.9) * std::sqrt(1 - 0.999));
  for (int64_t i = 0; i < layout.elements(); ++i) {
    volatile float mean = gradient[i] / 3.0f;
    volatile float decay = 0.1f * before[i];
    volatile float g = mean + decay;
    volatile float ahead = 0.9f * g;
    volatile float direction = g + ahead;
    volatile float move = 0.1f * direction;
    EXPECT_EQ(sgd[i], before[i] - move) << "SGD, element " << i;

    volatile float m = static_cast<float>(1 - 0.9) * mean;
    volatile float square = mean * mean;
    volatile float v = static_cast<float>(1 - 0.999) * square;
    volatile float root = std::sqrt(v);
    volatile float quotient = m / (root + 0.1f);
    move = keras_rate * quotient;
    EXPECT_EQ(adam[i], before[i] - move) << "Adam, element " << i;
  }
}

TEST(Optimizer, SparedBiasesDoNotShrinkAndWeightsDo) {
  const Layout layout = AwkwardLayout();
  const ElementRange all{0, layout.elements()};
  const std::vector<float> zero(layout.elements());
  const std::vector<float> ones(layout.elements(), 1.0f);
  std::vector<float> after(layout.elements());
  CreateOptimizer({.kind = SgdConfig{.weight_decay = 0.5}, .no_decay_on_bias = true}, layout, all)
      ->Apply(all, zero, 1, 0.5, 0, ones, absl::MakeSpan(after));
  for (const ParameterTensor& tensor : layout.tensors()) {
    for (int64_t i = tensor.offset; i < tensor.range().end; ++i) {
      EXPECT_EQ(after[i], tensor.is_bias ? 1.0f : 0.75f) << tensor.name;
    }
  }
}

TEST(Optimizer, StateIsNamedAsInPyTorch) {
  const Layout layout = AwkwardLayout();
  const ElementRange all{0, layout.elements()};
  const auto names = [&](const OptimizerConfig& config) {
    std::vector<std::string> found;
    for (const auto& state : CreateOptimizer(config, layout, all)->state()) {
      found.push_back(state.name);
    }
    return found;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({.kind = SgdConfig{}}), Names{});
  EXPECT_EQ(names({.kind = SgdConfig{.momentum = 0.5}}), Names{"momentum_buffer"});
  EXPECT_EQ(names({.kind = AdamConfig{}}), (Names{"exp_avg", "exp_avg_sq"}));
  EXPECT_EQ(names({.kind = AdaGradConfig{}}), Names{"sum"});
}

TEST(Optimizer, AnEmptyRangeIsFine) {
  const Layout layout = AwkwardLayout();
  for (const OptimizerCase& c : OptimizerCases()) {
    const auto optimizer = CreateOptimizer(c.config, layout, {16, 16});
    optimizer->Apply({0, 0}, {}, 1, 0.1, 0, {}, {});
    for (const auto& state : optimizer->state()) EXPECT_TRUE(state.values.empty());
  }
}

}  // namespace
}  // namespace tributary
