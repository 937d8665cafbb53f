#include "worker/data/batch_source.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

#include "common/training/sample_order.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

constexpr uint64_t kSeed = 11;
constexpr Shape kShape{2, 1, 3};

// Sample i is told by its pixels (i in base 256, and its complement) and by its label.
Dataset NumberedImages(int64_t samples) {
  Dataset dataset;
  dataset.train.shape = kShape;
  for (int64_t i = 0; i < samples; ++i) {
    const auto low = static_cast<uint8_t>(i);
    const auto high = static_cast<uint8_t>(i >> 8);
    for (const uint8_t byte : {low, high, static_cast<uint8_t>(~low), high, low, low}) {
      dataset.train.pixels.push_back(byte);
    }
    dataset.train.labels.push_back(static_cast<uint8_t>(i * 7));
  }
  return dataset;
}

// Pixel bytes come out as they are: (b / 255 - 0) / (1 / 255).
DataConfig Config() {
  DataConfig config;
  config.mean = {0, 0};
  config.stddev = {1 / 255.0, 1 / 255.0};
  return config;
}

// The samples of a batch, by their pixels; checks everything else that a batch holds.
std::vector<int64_t> SamplesOf(const ReadyBatch& batch, const Dataset& dataset) {
  std::vector<int64_t> samples;
  const auto elements = static_cast<size_t>(kShape.elements());
  EXPECT_EQ(batch.images.size(), batch.labels.size() * elements);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(batch.images.data()) % 64, 0);
  for (size_t i = 0; i < batch.labels.size(); ++i) {
    const absl::Span<const float> image = batch.images.subspan(i * elements, elements);
    const int64_t sample = std::lround(image[0]) + 256 * std::lround(image[1]);
    samples.push_back(sample);
    const absl::Span<const uint8_t> pixels = dataset.train.image(sample);
    for (size_t p = 0; p < elements; ++p) EXPECT_NEAR(image[p], pixels[p], 1e-4);
    EXPECT_EQ(batch.labels[i], dataset.train.labels[static_cast<size_t>(sample)]);
  }
  return samples;
}

// What the contract says is in a batch.
std::vector<int64_t> ExpectedSamples(const BatchPlan& plan, Step step, int32_t slot) {
  const SampleOrder order(kSeed, plan.EpochOf(step), plan.train_samples());
  const SampleRange range = plan.SlotSamples(step, slot);
  std::vector<int64_t> samples;
  for (int64_t p = range.begin; p < range.end; ++p) samples.push_back(order.At(p));
  return samples;
}

void ExpectBatch(BatchSource& source, const Dataset& dataset, const BatchPlan& plan, Step step,
                 int32_t slot) {
  const ReadyBatch batch = source.Get(step, slot);
  EXPECT_EQ(batch.step, step);
  EXPECT_EQ(batch.slot, slot);
  EXPECT_EQ(batch.first_position, plan.SlotSamples(step, slot).begin);
  EXPECT_EQ(SamplesOf(batch, dataset), ExpectedSamples(plan, step, slot))
      << "step " << step << " slot " << slot;
}

std::vector<int32_t> AllSlots(const BatchPlan& plan) {
  std::vector<int32_t> slots(static_cast<size_t>(plan.slots()));
  std::iota(slots.begin(), slots.end(), 0);
  return slots;
}

TEST(BatchSource, EverySampleIsUsedExactlyOnceInEachEpoch) {
  for (const int64_t samples : {1, 2, 7, 64, 65, 1000}) {
    for (const int64_t batch_size : {1, 3, 64, 2000}) {
      for (const int32_t slots : {1, 3, 5, 70}) {
        const Dataset dataset = NumberedImages(samples);
        const BatchPlan plan(samples, batch_size, slots, 2, 0);
        BatchSource source(dataset, Config(), plan, kSeed, 4);
        source.Expect(0, AllSlots(plan));
        for (int64_t epoch = 0; epoch < 2; ++epoch) {
          std::vector<int> uses(static_cast<size_t>(samples));
          for (Step step = epoch * plan.steps_per_epoch(); plan.EpochOf(step) == epoch; ++step) {
            for (const int32_t slot : AllSlots(plan)) {
              const ReadyBatch batch = source.Get(step, slot);
              for (const int64_t sample : SamplesOf(batch, dataset)) ++uses[sample];
            }
          }
          ASSERT_EQ(uses, std::vector<int>(static_cast<size_t>(samples), 1))
              << samples << " samples, batch " << batch_size << ", slots " << slots;
        }
      }
    }
  }
}

TEST(BatchSource, ABatchIsTheSameWhateverWasExpected) {
  const Dataset dataset = NumberedImages(50);
  const BatchPlan plan(50, 16, 4, 10, 0);
  for (const int depth : {1, 2, 7}) {
    BatchSource source(dataset, Config(), plan, kSeed, depth);
    ExpectBatch(source, dataset, plan, 0, 3);  // nothing expected yet
    source.Expect(0, {0, 1});
    for (const int32_t slot : {1, 0, 2, 3, 0}) ExpectBatch(source, dataset, plan, 0, slot);
    for (Step step = 1; step < 10; ++step) ExpectBatch(source, dataset, plan, step, 2);
    source.Expect(3, {2});  // back to an earlier step
    for (Step step = 3; step < 12; ++step) ExpectBatch(source, dataset, plan, step, 2);
    source.Expect(20, {});
    ExpectBatch(source, dataset, plan, 20, 1);
    source.Expect(plan.total_steps() - 1, {0, 1, 2, 3});
    for (const int32_t slot : {0, 1, 2, 3}) {
      ExpectBatch(source, dataset, plan, plan.total_steps() - 1, slot);
    }
  }
}

TEST(BatchSource, ABatchOutlivesTheSource) {
  const Dataset dataset = NumberedImages(20);
  const BatchPlan plan(20, 10, 2, 1, 0);
  std::vector<ReadyBatch> batches;
  {
    BatchSource source(dataset, Config(), plan, kSeed, 2);
    source.Expect(0, {0, 1});
    batches = {source.Get(0, 0), source.Get(0, 1), source.Get(1, 0), source.Get(1, 1)};
  }
  EXPECT_EQ(SamplesOf(batches[0], dataset), ExpectedSamples(plan, 0, 0));
  EXPECT_EQ(SamplesOf(batches[3], dataset), ExpectedSamples(plan, 1, 1));
}

TEST(BatchSource, MemoryIsUsedAgain) {
  const Dataset dataset = NumberedImages(100);
  const BatchPlan plan(100, 10, 1, 10, 0);
  BatchSource source(dataset, Config(), plan, kSeed, 2);
  source.Expect(0, {0});
  std::vector<const float*> buffers;
  for (Step step = 0; step < 100; ++step) buffers.push_back(source.Get(step, 0).images.data());
  std::sort(buffers.begin(), buffers.end());
  buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
  // Two ready or in progress, one with the caller, one that the caller makes.
  EXPECT_LE(buffers.size(), 4);
}

TEST(BatchSource, ManyThreadsGetTheirSlots) {
  constexpr int kThreads = 4;
  const Dataset dataset = NumberedImages(70);
  const BatchPlan plan(70, 16, kThreads, 20, 0);
  BatchSource source(dataset, Config(), plan, kSeed, 3);
  source.Expect(0, {0, 1, 2, 3});
  std::atomic<int64_t> wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int32_t slot = 0; slot < kThreads; ++slot) {
    threads.emplace_back([&, slot] {
      for (Step step = 0; step < plan.total_steps(); ++step) {
        if (slot == 0 && step % 7 == 0) source.Expect(step, {0, 1, 2, 3});
        // A neighbour's slot too: two threads may ask for one batch.
        for (const int32_t asked : {slot, (slot + 1) % kThreads}) {
          const ReadyBatch batch = source.Get(step, asked);
          if (SamplesOf(batch, dataset) != ExpectedSamples(plan, step, asked)) ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(BatchSource, EndsWhileTheThreadWorks) {
  const Dataset dataset = NumberedImages(1000);
  const BatchPlan plan(1000, 500, 1, 100, 0);
  for (int i = 0; i < 200; ++i) {
    BatchSource source(dataset, Config(), plan, kSeed, 1 + i % 5);
    if (i % 3 > 0) source.Expect(i, {0});
    if (i % 3 > 1) source.Get(i, 0);
  }
}

TEST(EvaluationBatch, IsInFileOrder) {
  const Dataset dataset = NumberedImages(300);
  for (const SampleRange range : {SampleRange{0, 300}, SampleRange{255, 258}, SampleRange{7, 7}}) {
    const EvaluationBatch batch = MakeEvaluationBatch(dataset.train, Config(), range);
    ASSERT_EQ(batch.images.size(), static_cast<size_t>(range.size()) * 6);
    ASSERT_EQ(batch.labels.size(), static_cast<size_t>(range.size()));
    for (int64_t i = 0; i < range.size(); ++i) {
      const absl::Span<const uint8_t> pixels = dataset.train.image(range.begin + i);
      for (size_t p = 0; p < 6; ++p) {
        EXPECT_NEAR(batch.images[static_cast<size_t>(i) * 6 + p], pixels[p], 1e-4);
      }
      EXPECT_EQ(batch.labels[static_cast<size_t>(i)],
                dataset.train.labels[static_cast<size_t>(range.begin + i)]);
    }
  }
}

}  // namespace
}  // namespace tributary
