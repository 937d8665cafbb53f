#include "common/codec/encode.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "common/codec/decode.h"
#include "common/codec/half.h"
#include "common/codec/int8_block.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

constexpr WireType kDense[] = {WireType::kFp32, WireType::kBf16, WireType::kFp16, WireType::kInt8};

std::vector<float> Wave(size_t count, double scale = 1) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(scale * std::sin(0.7 * static_cast<double>(i * i % 1009)));
  }
  return values;
}

// What arrives of one element, by the scalar conversions that have tests of their own.
float Arrived(WireType type, const std::vector<float>& values, size_t i) {
  switch (type) {
    case WireType::kBf16:
      return Bf16ToFloat(FloatToBf16(values[i]));
    case WireType::kFp16:
      return Fp16ToFloat(FloatToFp16(values[i]));
    case WireType::kInt8: {
      const size_t first = i / 64 * 64;
      const auto count = static_cast<int64_t>(std::min<size_t>(64, values.size() - first));
      char block[68];
      EncodeInt8Block(values.data() + first, count, block);
      float found = 0;
      DecodeInt8Block(block, count, [&](int64_t at, float value) {
        if (static_cast<size_t>(at) == i - first) found = value;
      });
      return found;
    }
    default:
      return values[i];
  }
}

TEST(Encode, SizesAreThoseOfTheTable) {
  EXPECT_EQ(EncodedBytes(WireType::kFp32, 100), 400);
  EXPECT_EQ(EncodedBytes(WireType::kBf16, 100), 200);
  EXPECT_EQ(EncodedBytes(WireType::kFp16, 100), 200);
  EXPECT_EQ(EncodedBytes(WireType::kInt8, 0), 0);
  EXPECT_EQ(EncodedBytes(WireType::kInt8, 1), 5);
  EXPECT_EQ(EncodedBytes(WireType::kInt8, 64), 68);
  EXPECT_EQ(EncodedBytes(WireType::kInt8, 65), 68 + 5);
  EXPECT_EQ(EncodedBytes(WireType::kInt8, int64_t{1} << 40), (int64_t{1} << 40) / 64 * 68);
}

TEST(Encode, EveryElementArrivesWhateverTheLength) {
  for (const WireType type : kDense) {
    for (const size_t count : {0, 1, 2, 63, 64, 65, 127, 128, 1000, 5000}) {
      const std::vector<float> values = Wave(count);
      std::string encoded(static_cast<size_t>(EncodedBytes(type, static_cast<int64_t>(count))),
                          'x');
      EXPECT_TRUE(Encode(type, values, encoded.data()));
      std::vector<float> out(count, -7);
      Decode(type, encoded.data(), absl::MakeSpan(out));
      std::vector<float> sum(count, 1);
      DecodeAdd(type, encoded.data(), absl::MakeSpan(sum));
      for (size_t i = 0; i < count; ++i) {
        ASSERT_EQ(out[i], Arrived(type, values, i)) << WireTypeName(type) << ' ' << i;
        ASSERT_EQ(sum[i], 1 + Arrived(type, values, i)) << WireTypeName(type) << ' ' << i;
      }
    }
  }
}

TEST(Encode, PartsAreTheWholeCutAtBlocks) {
  for (const WireType type : kDense) {
    const std::vector<float> values = Wave(1000);
    std::string whole(static_cast<size_t>(EncodedBytes(type, 1000)), 'x');
    Encode(type, values, whole.data());
    std::string parts(whole.size(), 'y');
    for (const auto& [first, count] : {std::pair{640, 360}, {0, 64}, {64, 576}}) {
      Encode(type, absl::MakeConstSpan(values).subspan(first, count),
             parts.data() + EncodedBytes(type, first));
    }
    EXPECT_EQ(parts, whole) << WireTypeName(type);
  }
}

TEST(Encode, SaysWhenSomethingIsNotFiniteWhereverItLies) {
  for (const WireType type : kDense) {
    for (size_t bad = 0; bad < 131; ++bad) {
      for (const float value :
           {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
        std::vector<float> values = Wave(131);
        values[bad] = value;
        std::string encoded(1000, 'x');
        ASSERT_FALSE(Encode(type, values, encoded.data())) << WireTypeName(type) << ' ' << bad;
        std::vector<float> error(values.size(), 0);
        ASSERT_FALSE(EncodeWithError(type, values, absl::MakeSpan(error), encoded.data()));
        for (const float left : error) ASSERT_TRUE(std::isfinite(left));
      }
    }
  }
  // 65520 is the first that binary16 rounds up to infinity.
  char out[8];
  EXPECT_TRUE(Encode(WireType::kFp16, {65519.996F}, out));
  EXPECT_FALSE(Encode(WireType::kFp16, {65520.0F}, out));
  EXPECT_FALSE(Encode(WireType::kBf16, {std::numeric_limits<float>::max()}, out));
}

TEST(EncodeWithError, NothingIsLostInTheLongRun) {
  for (const WireType type : kDense) {
    const std::vector<float> values = Wave(1500, 0.01);
    std::vector<float> error(values.size(), 0);
    std::vector<double> arrived(values.size(), 0);
    constexpr int kSteps = 50;
    for (int step = 0; step < kSteps; ++step) {
      std::string encoded(static_cast<size_t>(EncodedBytes(type, 1500)), 'x');
      ASSERT_TRUE(EncodeWithError(type, values, absl::MakeSpan(error), encoded.data()));
      std::vector<float> out(values.size());
      Decode(type, encoded.data(), absl::MakeSpan(out));
      for (size_t i = 0; i < values.size(); ++i) arrived[i] += out[i];
    }
    // What arrived and what is still kept is what was sent, but for fp32 roundings.
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(arrived[i] + error[i], kSteps * double{values[i]}, 1e-6) << WireTypeName(type);
    }
  }
}

TEST(EncodeWithError, KeepsExactlyWhatTheTypeLoses) {
  // 1 + 2^-9 is 1 in bf16; with the 2^-9 kept it is 1 + 2^-8, of which bf16 again keeps 1 (a tie to
  // even); then 1 + 3 * 2^-9, which is nearest to 1 + 2^-7.
  std::vector<float> error = {0};
  const float value = 1 + 0x1p-9F;
  const float expected_arrived[] = {1, 1, 1 + 0x1p-7F};
  const float expected_error[] = {0x1p-9F, 0x1p-8F, -0x1p-9F};
  for (int step = 0; step < 3; ++step) {
    char out[2];
    EncodeWithError(WireType::kBf16, {value}, absl::MakeSpan(error), out);
    float arrived = 0;
    Decode(WireType::kBf16, out, absl::MakeSpan(&arrived, 1));
    EXPECT_EQ(arrived, expected_arrived[step]) << step;
    EXPECT_EQ(error[0], expected_error[step]) << step;
  }
}

}  // namespace
}  // namespace tributary
