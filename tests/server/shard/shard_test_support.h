// A small job and its gradients, made up, for tests of a shard: a function of step, slot and
// element, of both signs and from 1e-4 to 1e4, so that the order of additions shows in the bits.
#ifndef TRIBUTARY_TESTS_SERVER_SHARD_SHARD_TEST_SUPPORT_H_
#define TRIBUTARY_TESTS_SERVER_SHARD_SHARD_TEST_SUPPORT_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "absl/types/span.h"
#include "common/codec/span_source.h"
#include "common/job/job.h"
#include "common/model/model_plan.h"
#include "common/training/batch_plan.h"
#include "server/shard/shard.h"
#include "tests/common/training/tree_reference.h"

namespace tributary {

// fc1 of 10 x 24 and fc2 of 3 x 10 with biases: 240 + 16 + 32 + 16 = 304 elements, 5 shard units of
// which the last is shorter.
inline constexpr int64_t kTestElements = 304;

inline Job ShardTestJob(OptimizerConfig optimizer,
                        Initializer initializer = Initializer::kPytorchDefault) {
  Job job;
  job.seed = 11;
  job.model = *PlanModel({"tiny",
                          {1, 2, 12},
                          {{"", FlattenLayer{}},
                           {"fc1", DenseLayer{.out_features = 10, .initializer = initializer}},
                           {"fc2", DenseLayer{.out_features = 3, .initializer = initializer}},
                           {"", SoftmaxCrossEntropyLayer{}}}});
  job.optimizer = optimizer;
  job.learning_rate = {.base = 0.5, .schedule = {}};
  job.training = {.epochs = 2, .global_batch = 12, .slots = 5};
  return job;
}

// Two epochs of 30 samples: steps of 12, 12 and 6 samples.
inline BatchPlan ShardTestPlan(const Job& job) {
  return BatchPlan(30, job.training.global_batch, job.training.slots, job.training.epochs, 0);
}

// Every tree node's sum over its slots, of the whole flat vector.
inline std::map<SlotRange, ReferenceValue> NodeGradients(Step step, int32_t slots) {
  std::vector<ReferenceValue> leaves(static_cast<size_t>(slots));
  for (int32_t slot = 0; slot < slots; ++slot) {
    std::mt19937 random(static_cast<uint32_t>(1000 * step + slot));
    for (int64_t i = 0; i < kTestElements; ++i) {
      const double exponent = static_cast<double>(random() % 8001) / 1000 - 4;
      const double sign = random() % 2 == 0 ? 1 : -1;
      leaves[static_cast<size_t>(slot)].values.push_back(
          static_cast<float>(sign * std::pow(10.0, exponent)));
    }
  }
  return AllNodes(leaves);
}

inline BatchStatistics NodeStatistics(const BatchPlan& plan, Step step, SlotRange node) {
  BatchStatistics statistics;
  for (int32_t slot = node.begin; slot < node.end; ++slot) {
    statistics.samples += plan.SlotSamples(step, slot).size();
  }
  return statistics;
}

// Pushes a chunk of a vector that has the model's length.
inline absl::Status PushPart(Shard& shard, Step step, ElementRange chunk, SlotRange node,
                             const std::vector<float>& whole, const BatchStatistics& statistics) {
  const absl::Span<const float> part = absl::MakeConstSpan(whole).subspan(
      static_cast<size_t>(chunk.begin), static_cast<size_t>(chunk.size()));
  const SpanSource values(part);
  return shard.Push(step, chunk, {.node = node, .values = &values, .statistics = statistics});
}

inline std::vector<uint32_t> BitsOf(absl::Span<const float> values) {
  std::vector<uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size() * sizeof(float));
  return bits;
}

// All shards of a job, which together hold one flat vector.
class ShardSet {
 public:
  ShardSet(const Job& job, ShardId shards, int64_t chunk_elements) : plan_(ShardTestPlan(job)) {
    for (ShardId shard = 0; shard < shards; ++shard) {
      shards_.push_back(std::make_unique<Shard>(job, shard, shards, chunk_elements));
    }
  }

  void Begin(const Shard::StepCallback& on_step) {
    for (const auto& shard : shards_) shard->Begin(plan_, on_step);
  }
  const std::vector<std::unique_ptr<Shard>>& shards() const { return shards_; }
  const BatchPlan& plan() const { return plan_; }

  // The newest parameters, then the optimizer's arrays, each with the shards' ranges joined.
  std::vector<uint32_t> JoinedBits() const {
    std::vector<float> parameters;
    std::map<std::string, std::vector<float>> states;
    for (const auto& shard : shards_) {
      const ParameterVersion version = *shard->Get({});
      parameters.insert(parameters.end(), version.buffer->values.begin(),
                        version.buffer->values.end());
      for (const Optimizer::State& state : shard->optimizer_state()) {
        std::vector<float>& joined = states[state.name];
        joined.insert(joined.end(), state.values.begin(), state.values.end());
      }
    }
    for (const auto& [name, values] : states) {
      parameters.insert(parameters.end(), values.begin(), values.end());
    }
    return BitsOf(parameters);
  }

 private:
  const BatchPlan plan_;
  std::vector<std::unique_ptr<Shard>> shards_;
};

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_SERVER_SHARD_SHARD_TEST_SUPPORT_H_
