#include "worker/compute/cpu/loops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/worker/compute/compute_test_support.h"

namespace tributary {
namespace {

using Limits = std::numeric_limits<float>;

TEST(HasNonFinite, FindsOneAnywhere) {
  for (int64_t count = 1; count <= 40; ++count) {
    std::vector<float> values(count, Limits::max());
    EXPECT_FALSE(HasNonFinite(values.data(), count));
    for (int64_t i = 0; i < count; ++i) {
      for (const float bad : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
        values[i] = bad;
        EXPECT_TRUE(HasNonFinite(values.data(), count)) << bad << " at " << i << " of " << count;
      }
      values[i] = -Limits::denorm_min();
    }
    EXPECT_FALSE(HasNonFinite(values.data(), count));
  }
}

TEST(Relu, LetsNanThroughBothWays) {
  const std::vector<float> x = {-1, 0, 2, Limits::quiet_NaN()};
  std::vector<float> y(4);
  ReluForward(x.data(), 4, y.data());
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], 0);
  EXPECT_EQ(y[2], 2);
  EXPECT_TRUE(std::isnan(y[3]));
  std::vector<float> gradient = {5, 6, 7, 8};
  ReluBackward(y.data(), gradient.data(), 4, gradient.data());
  EXPECT_EQ(gradient, (std::vector<float>{0, 0, 7, 8}));
}

TEST(Loops, SumRowsTransposeAndScatter) {
  const std::vector<float> rows = {1, 2, 3, 10, 20, 30};
  std::vector<float> sums(3);
  SumRows(rows.data(), 2, 3, sums.data());
  EXPECT_EQ(sums, (std::vector<float>{11, 22, 33}));

  std::vector<float> columns(6);
  Transpose(rows.data(), 2, 3, columns.data());
  EXPECT_EQ(columns, (std::vector<float>{1, 10, 2, 20, 3, 30}));

  // Two pixels of two channels into an image of three; both meet at pixel 2 in channel 1.
  const std::vector<float> values = {1, 2, 3, 4};
  const std::vector<int32_t> origin = {0, 2, 1, 2};
  std::vector<float> image(6, 9.0f);
  ScatterAdd(values.data(), origin.data(), 1, 2, 2, 6, image.data());
  EXPECT_EQ(image, (std::vector<float>{1, 0, 3, 0, 0, 6}));
}

}  // namespace
}  // namespace tributary
