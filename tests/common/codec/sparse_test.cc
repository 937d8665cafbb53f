#include "common/codec/sparse.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<int64_t> Selected(const std::vector<float>& values, int64_t count) {
  std::vector<int64_t> found;
  std::vector<uint32_t> scratch;
  SelectLargest(values, count, scratch, [&](int64_t index) { found.push_back(index); });
  return found;
}

TEST(TopKCount, IsThePartRoundedUpAndAtLeastOne) {
  EXPECT_EQ(TopKCount(1000, 0.01), 10);
  EXPECT_EQ(TopKCount(1001, 0.01), 11);
  EXPECT_EQ(TopKCount(10, 0.01), 1);
  EXPECT_EQ(TopKCount(10, 1), 10);
  EXPECT_EQ(TopKCount(1, 0.5), 1);
}

TEST(SelectLargest, TakesTheLargestMagnitudesInOrderOfTheIndex) {
  EXPECT_THAT(Selected({1, -5, 3, 0.5F, 4}, 3), ElementsAre(1, 2, 4));
  EXPECT_THAT(Selected({1, -5, 3, 0.5F, 4}, 1), ElementsAre(1));
  EXPECT_THAT(Selected({1, -5, 3}, 3), ElementsAre(0, 1, 2));
}

TEST(SelectLargest, OfEqualOnesTakesThoseWithTheSmallerIndex) {
  EXPECT_THAT(Selected({2, -2, 2, 7, -2}, 3), ElementsAre(0, 1, 3));
  EXPECT_THAT(Selected({1, 1, 1, 1}, 2), ElementsAre(0, 1));
}

TEST(SelectLargest, NeverTakesAZero) {
  EXPECT_THAT(Selected({0, -0.0F, 3, 0}, 3), ElementsAre(2));
  EXPECT_THAT(Selected({0, -0.0F}, 2), IsEmpty());
}

TEST(SelectLargest, WhatIsNoNumberIsTheLargest) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_THAT(Selected({1e38F, -infinity, 1, std::nanf("")}, 2), ElementsAre(1, 3));
  EXPECT_THAT(Selected({1e38F, -infinity, 1, std::nanf("")}, 1), ElementsAre(3));
}

TEST(SelectLargest, AgreesWithSorting) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<float> values(1 + random() % 60);
    // Few different values, so that there are many equal ones.
    for (float& value : values) value = static_cast<float>(static_cast<int>(random() % 9) - 4);
    const int64_t count = 1 + static_cast<int64_t>(random() % values.size());
    std::vector<int64_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return std::abs(values[static_cast<size_t>(a)]) > std::abs(values[static_cast<size_t>(b)]);
    });
    order.resize(static_cast<size_t>(count));
    order.erase(std::remove_if(order.begin(), order.end(),
                               [&](int64_t i) { return values[static_cast<size_t>(i)] == 0; }),
                order.end());
    std::sort(order.begin(), order.end());
    ASSERT_EQ(Selected(values, count), order) << round;
  }
}

std::string Bytes(const std::vector<SparseEntry>& entries) {
  std::string bytes(entries.size() * 8, 'x');
  if (!entries.empty()) std::memcpy(bytes.data(), entries.data(), bytes.size());
  return bytes;
}

TEST(ReadSparse, RefusesWhatIsNotAscendingInsideAndOtherThanZero) {
  const struct {
    std::vector<SparseEntry> entries;
    std::string message;
  } cases[] = {
      {{{3, 1}, {3, 2}}, "entry: found index 3, expected ascending ones from 4 to 9"},
      {{{3, 1}, {2, 2}}, "entry: found index 2, expected ascending ones from 4 to 9"},
      {{{10, 1}}, "entry: found index 10, expected ascending ones from 0 to 9"},
      {{{0xffffffff, 1}}, "entry: found index 4294967295"},
      {{{1, 1}, {4, -0.0F}}, "entry: found 0 at index 4, expected no zeros"},
  };
  for (const auto& c : cases) {
    const std::string bytes = Bytes(c.entries);
    const auto read = ReadSparse(10, {bytes});
    ASSERT_FALSE(read.ok()) << c.message;
    EXPECT_EQ(read.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(read.status().message()), HasSubstr(c.message));
  }
  EXPECT_TRUE(ReadSparse(10, {}).ok());
  EXPECT_TRUE(ReadSparse(10, {Bytes({{0, 1}, {9, 1}})}).ok());
}

}  // namespace
}  // namespace tributary
