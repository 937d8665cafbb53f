#include "worker/data/prefetch_queue.h"

#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace tributary {
namespace {

using Keys = std::vector<std::pair<Step, int32_t>>;

ReadyBatch BatchOf(SlotKey key) {
  ReadyBatch batch;
  batch.step = key.step;
  batch.slot = key.slot;
  return batch;
}

// Makes batches until the queue wants no more; the keys in order.
Keys Fill(PrefetchQueue& queue) {
  Keys keys;
  while (const auto key = queue.StartNext()) {
    keys.emplace_back(key->step, key->slot);
    queue.Finish(BatchOf(*key));
  }
  return keys;
}

// Whether the batch was ready.
bool Take(PrefetchQueue& queue, Step step, int32_t slot) {
  const std::optional<ReadyBatch> batch = queue.Take({step, slot});
  if (!batch.has_value()) return false;
  EXPECT_EQ(batch->step, step);
  EXPECT_EQ(batch->slot, slot);
  return true;
}

TEST(PrefetchQueue, MakesNothingBeforeItKnowsWhat) {
  PrefetchQueue queue(4, 100, 8);
  EXPECT_FALSE(queue.StartNext().has_value());
  EXPECT_FALSE(Take(queue, 0, 0));
  EXPECT_FALSE(queue.StartNext().has_value());
}

TEST(PrefetchQueue, GoesThroughTheSlotsStepByStepUpToItsDepth) {
  PrefetchQueue queue(4, 100, 5);
  queue.Expect(7, {2, 0});
  EXPECT_EQ(Fill(queue), (Keys{{7, 2}, {7, 0}, {8, 2}, {8, 0}, {9, 2}}));
  EXPECT_TRUE(Take(queue, 7, 0));
  EXPECT_TRUE(Take(queue, 7, 2));
  EXPECT_EQ(Fill(queue), (Keys{{9, 0}, {10, 2}}));
}

TEST(PrefetchQueue, StopsAtTheEndOfTheJob) {
  PrefetchQueue queue(2, 3, 100);
  queue.Expect(1, {0, 1});
  EXPECT_EQ(Fill(queue), (Keys{{1, 0}, {1, 1}, {2, 0}, {2, 1}}));
  queue.Expect(3, {0, 1});
  EXPECT_EQ(Fill(queue), Keys{});
}

TEST(PrefetchQueue, ABatchIsGivenOutOnce) {
  PrefetchQueue queue(1, 100, 1);
  queue.Expect(0, {0});
  Fill(queue);
  EXPECT_TRUE(Take(queue, 0, 0));
  EXPECT_FALSE(Take(queue, 0, 0));
  EXPECT_EQ(Fill(queue), (Keys{{1, 0}}));
}

TEST(PrefetchQueue, MakesOneBatchAtATime) {
  PrefetchQueue queue(2, 100, 4);
  queue.Expect(0, {0, 1});
  EXPECT_TRUE(queue.HasWork());
  const SlotKey key = queue.StartNext().value();
  EXPECT_FALSE(queue.HasWork());
  EXPECT_FALSE(queue.StartNext().has_value());
  queue.Finish(BatchOf(key));
  EXPECT_TRUE(queue.HasWork());
}

TEST(PrefetchQueue, ABatchThatACallerMadeWhileItWasInProgressIsDropped) {
  PrefetchQueue queue(2, 100, 2);
  queue.Expect(0, {0, 1});
  const SlotKey key = queue.StartNext().value();
  EXPECT_FALSE(Take(queue, 0, 0));
  queue.Finish(BatchOf(key));
  EXPECT_EQ(Fill(queue), (Keys{{0, 1}, {1, 0}}));
}

TEST(PrefetchQueue, WhatACallerMadeIsNotMadeAgain) {
  PrefetchQueue queue(4, 100, 2);
  queue.Expect(0, {0, 1, 2, 3});
  EXPECT_FALSE(Take(queue, 0, 0));
  EXPECT_FALSE(Take(queue, 0, 2));
  EXPECT_EQ(Fill(queue), (Keys{{0, 1}, {0, 3}}));
}

TEST(PrefetchQueue, ACallerAheadOfItIsFollowed) {
  PrefetchQueue queue(2, 100, 2);
  queue.Expect(0, {0, 1});
  Fill(queue);
  EXPECT_FALSE(Take(queue, 5, 0));
  EXPECT_EQ(Fill(queue), (Keys{{5, 1}, {6, 0}}));
}

TEST(PrefetchQueue, ABatchInProgressOfAStepThatIsOverIsDropped) {
  PrefetchQueue queue(2, 100, 2);
  queue.Expect(0, {0, 1});
  const SlotKey key = queue.StartNext().value();
  EXPECT_FALSE(Take(queue, 5, 0));
  queue.Finish(BatchOf(key));
  EXPECT_EQ(Fill(queue), (Keys{{5, 1}, {6, 0}}));
}

TEST(PrefetchQueue, TheSameExpectationForTheNextStepKeepsWhatIsReady) {
  PrefetchQueue queue(2, 100, 4);
  queue.Expect(0, {0, 1});
  Fill(queue);
  Take(queue, 0, 0);
  Take(queue, 0, 1);
  queue.Expect(1, {0, 1});
  EXPECT_EQ(Fill(queue), (Keys{{2, 0}, {2, 1}}));
  EXPECT_TRUE(Take(queue, 1, 0));
  EXPECT_TRUE(Take(queue, 1, 1));
}

TEST(PrefetchQueue, OtherSlotsReplaceAWrongGuess) {
  PrefetchQueue queue(4, 100, 3);
  queue.Expect(0, {0, 1});
  Fill(queue);  // (0, 0), (0, 1), (1, 0)
  queue.Expect(1, {3, 0});
  EXPECT_EQ(Fill(queue), (Keys{{1, 3}, {2, 3}}));
  EXPECT_TRUE(Take(queue, 1, 0));
  EXPECT_TRUE(Take(queue, 1, 3));
}

TEST(PrefetchQueue, AWrongGuessInProgressIsDropped) {
  PrefetchQueue queue(4, 100, 1);
  queue.Expect(0, {0});
  const SlotKey wrong = queue.StartNext().value();
  queue.Expect(0, {1});
  queue.Finish(BatchOf(wrong));
  EXPECT_EQ(Fill(queue), (Keys{{0, 1}}));
}

TEST(PrefetchQueue, AReplayOfEarlierStepsIsNotHeldUpByLaterOnes) {
  PrefetchQueue queue(1, 100, 2);
  queue.Expect(50, {0});
  Fill(queue);
  queue.Expect(10, {0});
  EXPECT_EQ(Fill(queue), (Keys{{10, 0}, {11, 0}}));
}

TEST(PrefetchQueue, AReplayOfEarlierStepsIsNotHeldUpByALaterOneInProgress) {
  PrefetchQueue queue(1, 100, 2);
  queue.Expect(50, {0});
  const SlotKey later = queue.StartNext().value();
  queue.Expect(10, {0});
  queue.Finish(BatchOf(later));
  EXPECT_EQ(Fill(queue), (Keys{{10, 0}, {11, 0}}));
}

TEST(PrefetchQueue, ASlotNamedTwiceCountsOnce) {
  PrefetchQueue queue(2, 100, 3);
  queue.Expect(0, {1, 1, 0, 1});
  EXPECT_EQ(Fill(queue), (Keys{{0, 1}, {0, 0}, {1, 1}}));
}

// Whatever is called in whatever order: never more than `depth` batches, none made that cannot be
// expected, and a caller that asks in order of what it announced always finds the next one.
TEST(PrefetchQueue, KeepsItsBoundsInAnyOrderOfCalls) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int bound) { return static_cast<int32_t>(random() % bound); };
    const int depth = 1 + pick(5);
    const int32_t slots = 1 + pick(4);
    PrefetchQueue queue(slots, 40, depth);
    const auto alive = std::make_shared<int>();
    std::optional<SlotKey> in_progress;
    for (int call = 0; call < 300; ++call) {
      switch (pick(5)) {
        case 0: {
          std::vector<int32_t> expected;
          for (int i = pick(4); i > 0; --i) expected.push_back(pick(slots));
          queue.Expect(pick(45), expected);
          break;
        }
        case 1:
        case 2: {
          Take(queue, pick(45), pick(slots));
          break;
        }
        case 3:
          if (!in_progress) in_progress = queue.StartNext();
          break;
        default:
          if (!in_progress) break;
          ReadyBatch batch = BatchOf(*in_progress);
          batch.owner = alive;
          queue.Finish(std::move(batch));
          in_progress.reset();
      }
      ASSERT_LE(alive.use_count() - 1 + (in_progress ? 1 : 0), depth);
    }
    if (in_progress) queue.Finish(BatchOf(*in_progress));
    queue.Expect(3, {0});
    for (Step step = 3; step < 40; ++step) {
      Fill(queue);
      ASSERT_TRUE(Take(queue, step, 0)) << "seed " << seed << " step " << step;
    }
  }
}

}  // namespace
}  // namespace tributary
