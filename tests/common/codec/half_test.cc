#include "common/codec/half.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace tributary {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// What the formats say a finite pattern of `exponent_bits` and `mantissa_bits` is.
double Meaning(uint32_t pattern, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const auto exponent = static_cast<int>((pattern >> mantissa_bits) & ((1U << exponent_bits) - 1));
  const auto mantissa = static_cast<double>(pattern & ((1U << mantissa_bits) - 1));
  const double fraction = std::ldexp(mantissa, -mantissa_bits);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
  return (pattern >> (exponent_bits + mantissa_bits)) != 0 ? -magnitude : magnitude;
}

struct Format {
  const char* name;
  int exponent_bits;
  int mantissa_bits;
  uint16_t (*from_float)(float);
  float (*to_float)(uint16_t);
};

class HalfTest : public testing::TestWithParam<Format> {
 protected:
  uint32_t infinity() const {
    return ((1U << GetParam().exponent_bits) - 1) << GetParam().mantissa_bits;
  }
  double Meaning(uint32_t pattern) const {
    return tributary::Meaning(pattern, GetParam().exponent_bits, GetParam().mantissa_bits);
  }
};

TEST_P(HalfTest, EveryPatternHasItsMeaningAndComesBack) {
  for (uint32_t pattern = 0; pattern < 0x10000; ++pattern) {
    const float value = GetParam().to_float(static_cast<uint16_t>(pattern));
    const uint32_t magnitude = pattern & 0x7fff;
    if (magnitude > infinity()) {
      EXPECT_TRUE(std::isnan(value)) << pattern;
      EXPECT_TRUE(std::isnan(GetParam().to_float(GetParam().from_float(value)))) << pattern;
      continue;
    }
    if (magnitude == infinity()) {
      EXPECT_EQ(value, pattern == magnitude ? kInfinity : -kInfinity);
    } else {
      EXPECT_EQ(value, Meaning(pattern)) << pattern;
      EXPECT_EQ(std::signbit(value), pattern != magnitude) << pattern;
    }
    EXPECT_EQ(GetParam().from_float(value), pattern);
  }
}

// The rounding is right at the middle between every two neighbours and beside it: with the order
// kept, it is right everywhere.
TEST_P(HalfTest, RoundsToTheNearestAndInTheMiddleToTheEvenOne) {
  for (uint32_t lower = 0; lower < infinity(); ++lower) {
    const uint32_t upper = lower + 1;
    // The neighbour of the largest would be one step further, if exponents went on.
    const double step = Meaning(lower) - Meaning(lower - (lower > 0 ? 1 : 0));
    const double above = upper < infinity() ? Meaning(upper) : Meaning(lower) + step;
    const auto middle = static_cast<float>((Meaning(lower) + above) / 2);
    const uint32_t even = (lower & 1) == 0 ? lower : upper;
    const auto rounded = [](float value) -> uint32_t { return GetParam().from_float(value); };
    if (static_cast<double>(middle) == (Meaning(lower) + above) / 2) {
      ASSERT_EQ(rounded(middle), even) << lower;
      ASSERT_EQ(rounded(-middle), even | 0x8000) << lower;
      ASSERT_EQ(rounded(std::nextafter(middle, 0.0F)), lower);
      ASSERT_EQ(rounded(std::nextafter(middle, kInfinity)), upper);
    }
  }
}

TEST_P(HalfTest, KeepsTheOrder) {
  uint16_t before = 0;
  for (uint64_t bits = 0; bits <= kFloatInfinity; bits += 97) {
    const uint16_t now = GetParam().from_float(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    ASSERT_GE(now, before) << bits;
    before = now;
  }
}

TEST_P(HalfTest, WhatIsNoNumberStaysNone) {
  for (uint32_t bits = kFloatInfinity + 1; bits < 0x80000000U; bits += 4093) {
    const uint16_t half = GetParam().from_float(std::bit_cast<float>(bits));
    ASSERT_GT(half & 0x7fff, infinity()) << bits;
  }
  EXPECT_EQ(GetParam().from_float(kInfinity), infinity());
  EXPECT_EQ(GetParam().from_float(-kInfinity), infinity() | 0x8000);
  EXPECT_EQ(GetParam().from_float(std::numeric_limits<float>::max()), infinity());
}

INSTANTIATE_TEST_SUITE_P(Formats, HalfTest,
                         testing::Values(Format{"bf16", 8, 7, FloatToBf16, Bf16ToFloat},
                                         Format{"fp16", 5, 10, FloatToFp16, Fp16ToFloat}),
                         [](const auto& format) { return format.param.name; });

}  // namespace
}  // namespace tributary
