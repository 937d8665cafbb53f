#include "server/shard/optimizer_math.h"

#include <numbers>

namespace tributary {
namespace {

// The Taylor series of cos(x) (`first` 1) or sin(x) (`first` x) with nine terms: for x <= pi/4 the
// tenth is below 1e-17. `factor` is the first of the two new factors of each term's factorial.
double Series(double first, double x, int factor) {
  constexpr int kTerms = 9;
  double term = first;
  double sum = first;
  for (int i = 1; i < kTerms; ++i, factor += 2) {
    term *= -x * x / (factor * (factor + 1));
    sum += term;
  }
  return sum;
}

}  // namespace

double IntegerPower(double base, int64_t exponent) {
  double result = 1;
  for (double square = base; exponent > 0; exponent /= 2, square *= square) {
    if (exponent % 2 == 1) result *= square;
  }
  return result;
}

double CosPi(double u) {
  // Both subtractions are exact.
  if (u > 0.5) return -CosPi(1 - u);
  if (u > 0.25) {
    const double x = std::numbers::pi * (0.5 - u);
    return Series(x, x, 2);
  }
  return Series(1, std::numbers::pi * u, 1);
}

}  // namespace tributary
