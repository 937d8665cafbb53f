#include "server/shard/optimizer_math.h"

#include <cmath>

#include "gtest/gtest.h"

namespace tributary {
namespace {

TEST(OptimizerMath, IntegerPowerIsExactWhereTheResultIs) {
  EXPECT_EQ(IntegerPower(0.5, 0), 1.0);
  EXPECT_EQ(IntegerPower(3, 1), 3.0);
  EXPECT_EQ(IntegerPower(3, 33), 5559060566555523.0);
  EXPECT_EQ(IntegerPower(0.5, 1074), 0x1p-1074);
  EXPECT_EQ(IntegerPower(0, 5), 0.0);
}

TEST(OptimizerMath, IntegerPowerOfALongTrainingRunIsZeroAndNotNan) {
  EXPECT_EQ(IntegerPower(0.999, int64_t{1} << 40), 0.0);
}

TEST(OptimizerMath, IntegerPowerAgreesWithLongDouble) {
  for (const double base : {0.9, 0.999, 0.7, 1.0001}) {
    for (int64_t exponent = 1; exponent < 20000; exponent = exponent * 3 / 2 + 1) {
      const long double expected = std::pow(static_cast<long double>(base), exponent);
      // A rounding of the first square is multiplied by the exponent.
      EXPECT_NEAR(IntegerPower(base, exponent), expected, exponent * 3e-16 * expected)
          << base << "^" << exponent;
    }
  }
}

TEST(OptimizerMath, CosPiIsExactAtItsCorners) {
  EXPECT_EQ(CosPi(0), 1.0);
  EXPECT_EQ(CosPi(0.5), 0.0);
  EXPECT_EQ(CosPi(1), -1.0);
}

TEST(OptimizerMath, CosPiAgreesWithLongDouble) {
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  for (int i = 0; i <= 10000; ++i) {
    const double u = i / 10000.0;
    EXPECT_NEAR(CosPi(u), std::cos(kPi * u), 5e-16) << u;
  }
}

}  // namespace
}  // namespace tributary
