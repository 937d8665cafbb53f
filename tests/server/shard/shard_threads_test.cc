// The same bits whatever the number of shards, the size of the chunks, the order of arrival and the
// threads that push.
#include <algorithm>
#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "gtest/gtest.h"
#include "server/shard/shard.h"
#include "tests/server/shard/shard_test_support.h"

namespace tributary {
namespace {

constexpr int32_t kSlots = 5;
constexpr Step kSteps = 6;

struct Piece {
  size_t shard;
  ElementRange chunk;
  SlotRange node;
};

// What a step needs, slot by slot.
std::vector<Piece> Leaves(const ShardSet& set) {
  std::vector<Piece> pieces;
  for (size_t shard = 0; shard < set.shards().size(); ++shard) {
    for (const ElementRange& chunk : set.shards()[shard]->chunks()) {
      for (int32_t slot = 0; slot < kSlots; ++slot) {
        pieces.push_back({shard, chunk, {slot, slot + 1}});
      }
    }
  }
  return pieces;
}

void Push(const ShardSet& set, Step step, const Piece& piece,
          const std::map<SlotRange, ReferenceValue>& gradients) {
  const absl::Status status =
      PushPart(*set.shards()[piece.shard], step, piece.chunk, piece.node,
               gradients.at(piece.node).values, NodeStatistics(set.plan(), step, piece.node));
  EXPECT_TRUE(status.ok()) << status;
}

std::vector<uint32_t> TrainInOrder(const Job& job, ShardId shards, int64_t chunk_elements) {
  ShardSet set(job, shards, chunk_elements);
  set.Begin([](const Shard::StepResult&) {});
  for (Step step = 0; step < kSteps; ++step) {
    const auto gradients = NodeGradients(step, kSlots);
    for (const Piece& piece : Leaves(set)) Push(set, step, piece, gradients);
  }
  return set.JoinedBits();
}

// Every thread pushes every piece of every step, in an order of its own, now and then as a wider
// node of the tree, and goes on when every shard has the next version.
std::vector<uint32_t> TrainOnThreads(const Job& job, ShardId shards, int64_t chunk_elements,
                                     uint32_t seed) {
  constexpr int kThreads = 4;
  ShardSet set(job, shards, chunk_elements);
  std::atomic<int64_t> steps = 0;
  set.Begin([&](const Shard::StepResult&) { ++steps; });
  const auto work = [&](uint32_t thread) {
    std::mt19937 random(1000 * seed + thread);
    for (Step step = 0; step < kSteps; ++step) {
      const auto gradients = NodeGradients(step, kSlots);
      std::vector<Piece> pieces = Leaves(set);
      for (const Piece& leaf : Leaves(set)) {
        const auto node =
            std::next(gradients.begin(), static_cast<std::ptrdiff_t>(random() % gradients.size()));
        if (random() % 3 == 0) pieces.push_back({leaf.shard, leaf.chunk, node->first});
      }
      std::shuffle(pieces.begin(), pieces.end(), random);
      for (const Piece& piece : pieces) Push(set, step, piece, gradients);
      absl::BlockingCounter waiting(shards);
      for (const auto& shard : set.shards()) {
        shard->WhenVersion(step + 1, [&](const absl::StatusOr<ParameterVersion>& version) {
          // The other threads may be several steps ahead.
          EXPECT_TRUE(version.ok() || absl::IsOutOfRange(version.status())) << version.status();
          waiting.DecrementCount();
        });
      }
      waiting.Wait();
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(steps, kSteps * shards) << "each step is applied once on each shard";
  return set.JoinedBits();
}

std::vector<Job> Jobs() {
  return {ShardTestJob({.kind = SgdConfig{.momentum = 0.9, .weight_decay = 0.01}}),
          ShardTestJob({.kind = AdamConfig{}, .no_decay_on_bias = true})};
}

TEST(ShardBits, DoNotDependOnTheNumberOfShardsNorOnTheChunks) {
  for (const Job& job : Jobs()) {
    const std::vector<uint32_t> expected = TrainInOrder(job, 1, kTestElements);
    for (const ShardId shards : {1, 2, 3, 5, 8}) {
      for (const int64_t chunk_elements : {64, 128, 192, 1024}) {
        EXPECT_EQ(TrainInOrder(job, shards, chunk_elements), expected)
            << shards << " shards, chunks of " << chunk_elements;
      }
    }
  }
}

TEST(ShardBits, DoNotDependOnWhichThreadPushesWhatAndWhen) {
  for (const Job& job : Jobs()) {
    const std::vector<uint32_t> expected = TrainInOrder(job, 1, kTestElements);
    for (const ShardId shards : {1, 2, 3, 5, 8}) {
      for (uint32_t seed = 0; seed < 10; ++seed) {
        EXPECT_EQ(TrainOnThreads(job, shards, seed % 2 == 0 ? 64 : 192, seed), expected)
            << shards << " shards, seed " << seed;
      }
    }
  }
}

TEST(ShardBits, AreNeverSeenHalfWrittenByReaders) {
  // The gradient is the same everywhere, so every version is one number in every element.
  const Job job = ShardTestJob({.kind = SgdConfig{}}, Initializer::kZeros);
  constexpr Step kManySteps = 2000;
  const BatchPlan plan(30, 12, kSlots, kManySteps / 3 + 1, kManySteps);
  Shard shard(job, 0, 1, kShardUnit);
  shard.Begin(plan, [](const Shard::StepResult&) {});
  std::atomic<bool> is_done = false;
  const auto read = [&] {
    while (!is_done) {
      const ParameterVersion held = *shard.Get({});
      const float first = held.buffer->values.front();
      // Version v is -v / 2.
      EXPECT_EQ(first, static_cast<float>(-held.version) / 2);
      for (const float value : held.buffer->values) ASSERT_EQ(value, first);
    }
  };
  std::vector<std::thread> readers;
  readers.emplace_back(read);
  readers.emplace_back(read);
  for (Step step = 0; step < kManySteps; ++step) {
    const int64_t samples = plan.StepSamples(step).size();
    const std::vector<float> gradient(kTestElements, static_cast<float>(samples));
    for (const ElementRange& chunk : shard.chunks()) {
      EXPECT_TRUE(PushPart(shard, step, chunk, {0, kSlots}, gradient, {.samples = samples}).ok());
    }
  }
  is_done = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace tributary
