#include "common/training/sample_order.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace tributary {
namespace {

std::vector<int64_t> OrderOf(uint64_t seed, int64_t epoch, int64_t samples) {
  const SampleOrder order(seed, epoch, samples);
  std::vector<int64_t> result;
  for (int64_t position = 0; position < samples; ++position) result.push_back(order.At(position));
  return result;
}

void ExpectPermutation(std::vector<int64_t> order) {
  std::sort(order.begin(), order.end());
  std::vector<int64_t> expected(order.size());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

// Pearson's statistic of counts that should be equal.
double ChiSquare(const std::vector<int>& counts) {
  const double expected =
      std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  double sum = 0;
  for (const int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

TEST(SampleOrder, IsAPermutation) {
  for (int64_t samples = 1; samples <= 300; ++samples) {
    for (const uint64_t seed : {0, 1}) ExpectPermutation(OrderOf(seed, samples % 7, samples));
  }
  for (const int64_t samples : {1023, 1024, 1025, 60000, 65536, 65537}) {
    ExpectPermutation(OrderOf(1, 0, samples));
  }
}

TEST(SampleOrder, IsAFunctionOfSeedEpochAndSize) {
  EXPECT_EQ(OrderOf(3, 4, 1000), OrderOf(3, 4, 1000));
  EXPECT_NE(OrderOf(3, 4, 1000), OrderOf(3, 5, 1000));
  EXPECT_NE(OrderOf(3, 4, 1000), OrderOf(4, 4, 1000));
}

TEST(SampleOrder, EpochsHaveLittleInCommon) {
  // Two random permutations agree in one place on average, whatever their size.
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    const std::vector<int64_t> one = OrderOf(1, epoch, 60000);
    const std::vector<int64_t> other = OrderOf(1, epoch + 1, 60000);
    int64_t same = 0;
    for (size_t i = 0; i < one.size(); ++i) same += one[i] == other[i] ? 1 : 0;
    EXPECT_LE(same, 8) << epoch;
  }
}

TEST(SampleOrder, NeighboursDoNotStayNeighbours) {
  const std::vector<int64_t> order = OrderOf(1, 0, 60000);
  // Of 59999 pairs of a random permutation two follow each other on average, up or down.
  int64_t neighbours = 0;
  for (size_t i = 1; i < order.size(); ++i) neighbours += std::abs(order[i] - order[i - 1]) == 1;
  EXPECT_LE(neighbours, 12);
}

// The bounds are the 99.9% quantiles of the chi-square distribution.
TEST(SampleOrder, TheFirstSampleIsUniform) {
  std::vector<int> counts(10);
  for (int64_t epoch = 0; epoch < 20000; ++epoch) ++counts[SampleOrder(5, epoch, 10).At(0)];
  EXPECT_LT(ChiSquare(counts), 27.88);  // 9 degrees of freedom
}

TEST(SampleOrder, EverySampleIsUniformAtEveryPosition) {
  std::vector<std::vector<int>> counts(100, std::vector<int>(100));
  for (int64_t epoch = 0; epoch < 20000; ++epoch) {
    const SampleOrder order(6, epoch, 100);
    for (int64_t position = 0; position < 100; ++position) ++counts[position][order.At(position)];
  }
  double sum = 0;
  for (const std::vector<int>& of_position : counts) sum += ChiSquare(of_position);
  EXPECT_LT(sum, 10239);  // 99 * 99 degrees of freedom: 9801 + 3.09 * sqrt(2 * 9801), and a bit
}

TEST(SampleOrder, EveryPermutationOfThreeIsAsLikely) {
  std::map<std::vector<int64_t>, int> counts;
  for (int64_t epoch = 0; epoch < 12000; ++epoch) ++counts[OrderOf(7, epoch, 3)];
  ASSERT_EQ(counts.size(), 6);
  std::vector<int> numbers;
  numbers.reserve(counts.size());
  for (const auto& [order, count] : counts) numbers.push_back(count);
  EXPECT_LT(ChiSquare(numbers), 20.52);  // 5 degrees of freedom
}

TEST(SampleOrder, HoldsAtTheLargestSize) {
  constexpr int64_t kSamples = (int64_t{1} << 48) - 1;
  const SampleOrder order(1, 0, kSamples);
  std::vector<int64_t> seen;
  for (int64_t position = 0; position < 1000; ++position) {
    seen.push_back(order.At(position));
    EXPECT_GE(seen.back(), 0);
    EXPECT_LT(seen.back(), kSamples);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_GT(seen.back(), kSamples / 2);
}

}  // namespace
}  // namespace tributary
