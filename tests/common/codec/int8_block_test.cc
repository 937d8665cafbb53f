#include "common/codec/int8_block.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace tributary {
namespace {

struct Block {
  bool finite = false;
  float scale = 0;
  std::vector<int> bytes;
  std::vector<float> decoded;
};

Block Encoded(const std::vector<float>& values) {
  std::vector<char> out(4 + values.size());
  Block block;
  const auto count = static_cast<int64_t>(values.size());
  block.finite = EncodeInt8Block(values.data(), count, out.data());
  std::memcpy(&block.scale, out.data(), 4);
  for (size_t i = 0; i < values.size(); ++i) {
    block.bytes.push_back(static_cast<signed char>(out[4 + i]));
  }
  block.decoded.resize(values.size());
  DecodeInt8Block(out.data(), count,
                  [&](int64_t i, float value) { block.decoded[static_cast<size_t>(i)] = value; });
  return block;
}

TEST(Int8Block, ScalesByTheLargestMagnitude) {
  // The largest is 254: the scale is 2, and halves go to the even byte.
  const Block block = Encoded({-254, 254, 0, 2, -2, 1, 3, 5, -1, -3, 0.999F, 1.001F});
  EXPECT_TRUE(block.finite);
  EXPECT_EQ(block.scale, 2);
  EXPECT_EQ(block.bytes, (std::vector<int>{-127, 127, 0, 1, -1, 0, 2, 2, 0, -2, 0, 1}));
  EXPECT_EQ(block.decoded, (std::vector<float>{-254, 254, 0, 2, -2, 0, 4, 4, 0, -4, 0, 2}));
}

TEST(Int8Block, IsOffByAtMostHalfAScale) {
  for (int exponent = -110; exponent < 120; ++exponent) {
    std::vector<float> values;
    for (int i = 0; i < 64; ++i) {
      values.push_back(static_cast<float>(std::ldexp(std::sin(i * i + exponent), exponent)));
    }
    const Block block = Encoded(values);
    ASSERT_TRUE(block.finite);
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_LE(std::abs(block.bytes[i]), 127);
      // Half a scale, and the roundings of three fp32 operations.
      ASSERT_LE(std::abs(double{values[i]} - block.decoded[i]), double{block.scale} * 0.50002)
          << exponent << ' ' << i;
    }
  }
}

TEST(Int8Block, TinyBlocksAreZeros) {
  const float smallest = 127 * std::numeric_limits<float>::min();
  EXPECT_EQ(Encoded({std::nextafter(smallest, 0.0F), -1e-40F}).decoded, (std::vector<float>{0, 0}));
  EXPECT_EQ(Encoded({smallest, 0}).decoded, (std::vector<float>{smallest, 0}));
  EXPECT_EQ(Encoded({0, 0, 0}).scale, 0);
  EXPECT_TRUE(Encoded({0, 0, 0}).finite);
}

TEST(Int8Block, LargestFloatsKeepTheirScale) {
  const float largest = std::numeric_limits<float>::max();
  const Block block = Encoded({largest, -largest, largest / 2});
  EXPECT_TRUE(block.finite);
  EXPECT_EQ(block.bytes[0], 127);
  EXPECT_EQ(block.bytes[1], -127);
}

TEST(Int8Block, OneThatIsNoNumberSpoilsTheBlockVisibly) {
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    const Block block = Encoded({1, bad, 2});
    EXPECT_FALSE(block.finite);
    for (const float value : block.decoded) EXPECT_TRUE(std::isnan(value));
  }
}

}  // namespace
}  // namespace tributary
