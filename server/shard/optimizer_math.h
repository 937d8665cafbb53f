// Two functions of libm, written so that they give the same bits on every machine: glibc chooses
// between variants with and without fused multiply-add when a program starts, and their last bits
// differ. These are plain products and sums.
#ifndef TRIBUTARY_SERVER_SHARD_OPTIMIZER_MATH_H_
#define TRIBUTARY_SERVER_SHARD_OPTIMIZER_MATH_H_

#include <cstdint>

namespace tributary {

// base^exponent, exponent >= 0, by repeated squaring.
double IntegerPower(double base, int64_t exponent);

// cos(pi * u) for u in [0, 1], to 5e-16.
double CosPi(double u);

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SHARD_OPTIMIZER_MATH_H_
