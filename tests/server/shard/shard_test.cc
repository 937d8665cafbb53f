// One shard, one thread: what it takes, what it refuses, and which versions it has.
#include "server/shard/shard.h"

#include <limits>
#include <string>
#include <vector>

#include "common/model/initialize.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/shard/shard_test_support.h"

namespace tributary {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr SlotRange kRoot{0, 5};

OptimizerConfig Momentum(double momentum) {
  return {.kind = SgdConfig{.momentum = momentum}};
}

// A shard with the whole vector, in chunks of 128, 128 and 48 elements.
class ShardTest : public testing::Test {
 protected:
  void SetUp() override {
    shard_.Begin(plan_, [this](const Shard::StepResult& result) { steps_.push_back(result); });
  }

  absl::Status Push(Step step, SlotRange node, float value) {
    BatchStatistics statistics = NodeStatistics(plan_, step, node);
    statistics.correct = 1;
    for (const ElementRange& chunk : shard_.chunks()) {
      absl::Status status =
          PushPart(shard_, step, chunk, node, std::vector<float>(kTestElements, value), statistics);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  const Job job_ = ShardTestJob(Momentum(0.5), Initializer::kZeros);
  const BatchPlan plan_ = ShardTestPlan(job_);
  Shard shard_{job_, 0, 1, 128};
  std::vector<Shard::StepResult> steps_;
};

TEST(ShardAtVersionZero, HasTheInitialParameters) {
  const Job job = ShardTestJob(Momentum(0.5));
  std::vector<float> expected(kTestElements);
  InitializeParameters(job.model, job.seed, {0, kTestElements}, absl::MakeSpan(expected));
  EXPECT_NE(expected[0], 0);
  for (const ShardId shards : {1, 2, 3, 5, 8}) {
    std::vector<float> joined;
    for (ShardId k = 0; k < shards; ++k) {
      const Shard shard(job, k, shards, kShardUnit);
      const ParameterVersion version = *shard.Get({});
      EXPECT_EQ(version.version, 0);
      EXPECT_EQ(version.range, job.model.layout.ShardRange(k, shards));
      joined.insert(joined.end(), version.buffer->values.begin(), version.buffer->values.end());
    }
    EXPECT_EQ(BitsOf(joined), BitsOf(expected)) << shards << " shards";
  }
}

TEST(ShardAtVersionZero, TakesNoPushBeforeTheJobBegins) {
  const Job job = ShardTestJob(Momentum(0.5));
  Shard shard(job, 0, 1, kTestElements);
  const absl::Status status = PushPart(shard, 0, {0, kTestElements}, kRoot,
                                       std::vector<float>(kTestElements), {.samples = 12});
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

TEST_F(ShardTest, TwoStepsByHand) {
  // Step 0: (2 + 3 + 4 + 5 + 10) / 12 samples = 2. Momentum 2, parameters 0 - 0.5 * 2 = -1.
  const std::vector<float> first = {2, 3, 4, 5, 10};
  for (int32_t slot = 0; slot < 5; ++slot) {
    EXPECT_EQ(shard_.Get({})->version, 0);
    ASSERT_TRUE(Push(0, {slot, slot + 1}, first[static_cast<size_t>(slot)]).ok());
  }
  EXPECT_EQ(shard_.Get({})->version, 1);
  EXPECT_THAT(shard_.Get({})->buffer->values, Each(-1.0f));
  ASSERT_EQ(shard_.optimizer_state().size(), 1);
  EXPECT_EQ(shard_.optimizer_state()[0].name, "momentum_buffer");
  EXPECT_THAT(shard_.optimizer_state()[0].values, Each(2.0f));

  // Step 1: (8 + 4) / 12 = 1. Momentum 0.5 * 2 + 1 = 2, parameters -1 - 0.5 * 2 = -2.
  ASSERT_TRUE(Push(1, {4, 5}, 8).ok());
  ASSERT_TRUE(Push(1, {0, 4}, 4).ok());
  EXPECT_THAT(shard_.Get({})->buffer->values, Each(-2.0f));

  // Step 2 has 6 samples: 12 / 6 = 2. Momentum 0.5 * 2 + 2 = 3, parameters -2 - 0.5 * 3 = -3.5.
  ASSERT_TRUE(Push(2, kRoot, 12).ok());
  EXPECT_THAT(shard_.Get({})->buffer->values, Each(-3.5f));
  EXPECT_THAT(shard_.optimizer_state()[0].values, Each(3.0f));

  ASSERT_EQ(steps_.size(), 3);
  EXPECT_EQ(steps_[0].version, 1);
  EXPECT_EQ(steps_[0].statistics.samples, 12);
  EXPECT_EQ(steps_[0].statistics.correct, 5);
  EXPECT_EQ(steps_[2].version, 3);
  EXPECT_EQ(steps_[2].statistics.samples, 6);
}

TEST_F(ShardTest, EveryElementHasItsOwnGradient) {
  std::vector<float> gradient;
  gradient.reserve(kTestElements);
  for (int i = 0; i < kTestElements; ++i) gradient.push_back(static_cast<float>(24 * i));
  for (const ElementRange& chunk : shard_.chunks()) {
    ASSERT_TRUE(PushPart(shard_, 0, chunk, kRoot, gradient, {.samples = 12}).ok());
  }
  // 24 i / 12 * 0.5 = i.
  for (int i = 0; i < kTestElements; ++i) {
    EXPECT_EQ(shard_.Get({})->buffer->values[static_cast<size_t>(i)], static_cast<float>(-i));
  }
}

TEST_F(ShardTest, AStepNeedsEveryChunk) {
  ASSERT_THAT(shard_.chunks(),
              ElementsAre(ElementRange{0, 128}, ElementRange{128, 256}, ElementRange{256, 304}));
  const std::vector<float> gradient(kTestElements, 12);
  for (const size_t chunk : {2, 0, 1}) {
    EXPECT_EQ(shard_.Get({})->version, 0);
    ASSERT_TRUE(PushPart(shard_, 0, shard_.chunks()[chunk], kRoot, gradient, {.samples = 12}).ok());
  }
  EXPECT_EQ(shard_.Get({})->version, 1);
}

TEST_F(ShardTest, ARepeatedPushIsTakenAndDropped) {
  ASSERT_TRUE(Push(0, {0, 1}, 4).ok());
  EXPECT_TRUE(Push(0, {0, 1}, 4).ok());
  ASSERT_TRUE(Push(0, {0, 2}, 6).ok()) << "a wider node takes the place of its parts";
  EXPECT_TRUE(Push(0, {1, 2}, 2).ok());
  ASSERT_TRUE(Push(0, {2, 4}, 6).ok());
  EXPECT_TRUE(Push(0, {0, 4}, 12).ok());
  EXPECT_EQ(shard_.Get({})->version, 0);
  ASSERT_TRUE(Push(0, {4, 5}, 12).ok());
  EXPECT_THAT(shard_.Get({})->buffer->values, Each(-1.0f)) << "(4 + 2 + 6 + 12) / 12 * 0.5";
}

TEST_F(ShardTest, ALatePushOfAnOlderStepIsDropped) {
  ASSERT_TRUE(Push(0, kRoot, 24).ok());
  ASSERT_TRUE(Push(1, {0, 4}, 24).ok());
  EXPECT_TRUE(Push(0, kRoot, 1000).ok());
  EXPECT_TRUE(Push(0, {4, 5}, 1000).ok());
  EXPECT_EQ(shard_.Get({})->version, 1);
  EXPECT_THAT(shard_.Get({})->buffer->values, Each(-1.0f));
  ASSERT_TRUE(Push(1, {4, 5}, 0).ok());
  // Momentum 0.5 * 2 + 2 = 3.
  EXPECT_THAT(shard_.Get({})->buffer->values, Each(-2.5f));
  EXPECT_EQ(steps_.size(), 2);
}

struct Refusal {
  std::string what;
  Step step = 0;
  ElementRange chunk{128, 256};
  SlotRange node{0, 2};
  int64_t samples = 4;  // of slots 0 and 1: 12 * 2 / 5
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  std::string found;
  std::string expected;
};

TEST_F(ShardTest, RefusesWhatIsNoPieceOfTheStep) {
  constexpr auto kMost = std::numeric_limits<int64_t>::max();
  constexpr auto kPrecondition = absl::StatusCode::kFailedPrecondition;
  const std::string chunks = "[0, 304) in steps of 128";
  const std::vector<Refusal> refusals = {
      {.what = "a step ahead",
       .step = 1,
       .code = kPrecondition,
       .found = "step: found 1",
       .expected = "expected 0"},
      {.what = "a negative step",
       .step = -1,
       .code = kPrecondition,
       .found = "found -1",
       .expected = "expected 0"},
      {.what = "half a chunk", .chunk = {128, 192}, .found = "[128, 192)", .expected = chunks},
      {.what = "two chunks", .chunk = {0, 256}, .found = "[0, 256)", .expected = chunks},
      {.what = "a chunk off its place",
       .chunk = {64, 192},
       .found = "[64, 192)",
       .expected = chunks},
      {.what = "a chunk beyond the end",
       .chunk = {384, 512},
       .found = "[384, 512)",
       .expected = chunks},
      {.what = "a last chunk that is too long",
       .chunk = {256, 384},
       .found = "[256, 384)",
       .expected = chunks},
      {.what = "a chunk from nowhere",
       .chunk = {kMost - 128, kMost},
       .found = "chunk: found",
       .expected = chunks},
      {.what = "a chunk that begins before the vector",
       .chunk = {-128, 0},
       .found = "[-128, 0)",
       .expected = chunks},
      {.what = "an inverted chunk", .chunk = {128, 0}, .found = "[128, 0)", .expected = chunks},
      {.what = "an empty chunk", .chunk = {128, 128}, .found = "[128, 128)", .expected = chunks},
      {.what = "slots that are no node",
       .node = {1, 3},
       .found = "slots: found [1, 3)",
       .expected = "tree over 5 slots"},
      {.what = "a slot too many", .node = {4, 6}, .found = "[4, 6)", .expected = "over 5 slots"},
      {.what = "no slots", .node = {2, 2}, .found = "[2, 2)", .expected = "over 5 slots"},
      {.what = "too few samples",
       .samples = 3,
       .found = "samples: found 3",
       .expected = "expected 4"},
      {.what = "too many samples",
       .samples = kMost,
       .found = "samples: found 9223372036854775807",
       .expected = "expected 4"},
  };
  for (const Refusal& r : refusals) {
    const SpanSource values({});
    const absl::Status status = shard_.Push(
        r.step, r.chunk,
        {.node = r.node, .values = &values, .statistics = BatchStatistics{.samples = r.samples}});
    EXPECT_EQ(status.code(), r.code) << r.what << ": " << status;
    EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr(r.found), HasSubstr(r.expected)))
        << r.what;
  }
  // None of them left a trace.
  ASSERT_TRUE(Push(0, kRoot, 24).ok());
  EXPECT_THAT(shard_.Get({})->buffer->values, Each(-1.0f));
}

TEST_F(ShardTest, RefusesAStepAfterTheLast) {
  for (Step step = 0; step < 6; ++step) ASSERT_TRUE(Push(step, kRoot, 0).ok());
  const absl::Status status = Push(6, kRoot, 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("found 6"), HasSubstr("last is 5")));
  EXPECT_EQ(shard_.Get({})->version, 6);
}

TEST_F(ShardTest, HasTheNewestVersionAndTheOneBefore) {
  EXPECT_EQ(shard_.Get(0)->version, 0);
  EXPECT_EQ(shard_.Get(-1).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(shard_.Get(1).status().code(), absl::StatusCode::kOutOfRange);
  ASSERT_TRUE(Push(0, kRoot, 24).ok());
  ASSERT_TRUE(Push(1, kRoot, 0).ok());

  EXPECT_EQ(shard_.Get({})->version, 2);
  EXPECT_EQ(shard_.Get(2)->version, 2);
  EXPECT_THAT(shard_.Get(2)->buffer->values, Each(-1.5f));
  EXPECT_EQ(shard_.Get(1)->version, 1);
  EXPECT_THAT(shard_.Get(1)->buffer->values, Each(-1.0f));
  for (const Version other : {Version{0}, Version{3}, std::numeric_limits<Version>::min(),
                              std::numeric_limits<Version>::max()}) {
    const absl::Status status = shard_.Get(other).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr(absl::StrCat("found ", other)), HasSubstr("expected 1 or 2")));
  }
}

TEST_F(ShardTest, PartsOfAVersionAreCountedFromTheFlatVectorsStart) {
  const Job job = ShardTestJob(Momentum(0.5));
  const Shard second(job, 1, 2, kShardUnit);
  const ParameterVersion version = *second.Get({});
  const ElementRange range = second.range();
  ASSERT_GT(range.begin, 0);
  EXPECT_EQ(version.Part(range).data(), version.buffer->values.data());
  EXPECT_EQ(version.Part({range.begin + 3, range.end}).data(), version.buffer->values.data() + 3);
  EXPECT_EQ(version.Part({range.begin + 3, range.begin + 5}).size(), 2);
}

TEST_F(ShardTest, AReaderKeepsItsVersionWhileStepsAreApplied) {
  ASSERT_TRUE(Push(0, kRoot, 24).ok());
  const ParameterVersion held = *shard_.Get({});
  for (Step step = 1; step < 6; ++step) {
    ASSERT_TRUE(Push(step, kRoot, 1000).ok());
    EXPECT_NE(shard_.Get({})->buffer, held.buffer);
    EXPECT_THAT(held.buffer->values, Each(-1.0f)) << "after step " << step;
  }
}

TEST_F(ShardTest, ASkippedStepsVersionHoldsThePreviousParameters) {
  ASSERT_TRUE(Push(0, kRoot, 24).ok());
  // The flag of one slot of five is enough.
  for (const ElementRange& chunk : shard_.chunks()) {
    for (int32_t slot = 0; slot < 5; ++slot) {
      BatchStatistics statistics = NodeStatistics(plan_, 1, {slot, slot + 1});
      statistics.not_finite = slot == 3;
      ASSERT_TRUE(PushPart(shard_, 1, chunk, {slot, slot + 1},
                           std::vector<float>(kTestElements, NAN), statistics)
                      .ok());
    }
  }
  EXPECT_EQ(shard_.Get({})->version, 2);
  EXPECT_THAT(shard_.Get({})->buffer->values, Each(-1.0f));
  EXPECT_THAT(shard_.Get(1)->buffer->values, Each(-1.0f));
  EXPECT_THAT(shard_.optimizer_state()[0].values, Each(2.0f));
  EXPECT_TRUE(steps_.back().statistics.not_finite);
  // Step 2 has 6 samples: 12 / 6 = 2. Momentum 0.5 * 2 + 2 = 3.
  ASSERT_TRUE(Push(2, kRoot, 12).ok());
  EXPECT_THAT(shard_.Get({})->buffer->values, Each(-2.5f));
  EXPECT_THAT(shard_.Get(2)->buffer->values, Each(-1.0f)) << "its buffer was not written over";
}

TEST(ShardSkipsAStep, AsIfItHadNotBeenForAnOptimizerThatCountsItsUpdates) {
  const Job job = ShardTestJob({.kind = AdamConfig{}});
  const BatchPlan plan = ShardTestPlan(job);
  const std::vector<float> gradient = NodeGradients(0, 5).at(kRoot).values;
  const ElementRange chunk{0, kTestElements};
  const auto train = [&](const std::vector<bool>& is_bad) {
    Shard shard(job, 0, 1, kTestElements);
    shard.Begin(plan, [](const Shard::StepResult&) {});
    for (size_t step = 0; step < is_bad.size(); ++step) {
      EXPECT_TRUE(PushPart(shard, static_cast<Step>(step), chunk, kRoot, gradient,
                           {.samples = 12, .not_finite = is_bad[step]})
                      .ok());
    }
    std::vector<uint32_t> bits = BitsOf(shard.Get({})->buffer->values);
    for (const Optimizer::State& state : shard.optimizer_state()) {
      const std::vector<uint32_t> more = BitsOf(state.values);
      bits.insert(bits.end(), more.begin(), more.end());
    }
    return bits;
  };
  EXPECT_EQ(train({true, false}), train({false}));
  EXPECT_NE(train({false, false}), train({false}));
}

}  // namespace
}  // namespace tributary
