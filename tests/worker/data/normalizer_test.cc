#include "worker/data/normalizer.h"

#include <bit>
#include <vector>

#include "gtest/gtest.h"

namespace tributary {
namespace {

// The bits of ((b / 255.0 - mean) / stddev) in numpy's float64, as float32.
struct Expected {
  double mean;
  double stddev;
  uint8_t byte;
  uint32_t bits;
};
constexpr Expected kNumpy[] = {
    {0.1307, 0.3081, 0, 0xbed93270},   {0.1307, 0.3081, 1, 0xbed2ae1f},
    {0.1307, 0.3081, 127, 0x3f989c64}, {0.1307, 0.3081, 128, 0x3f9a3d78},
    {0.1307, 0.3081, 254, 0x4033c2b2}, {0.1307, 0.3081, 255, 0x4034933c},
    {0.5, 0.25, 0, 0xc0000000},        {0.5, 0.25, 1, 0xbffdfdfe},
    {0.5, 0.25, 127, 0xbc008081},      {0.5, 0.25, 128, 0x3c008081},
    {0.5, 0.25, 254, 0x3ffdfdfe},      {0.5, 0.25, 255, 0x40000000},
    {0.286, 0.353, 0, 0xbf4f6928},     {0.286, 0.353, 1, 0xbf4c9119},
    {0.286, 0.353, 127, 0x3f19c603},   {0.286, 0.353, 128, 0x3f1c9e11},
    {0.286, 0.353, 254, 0x4000bd4b},   {0.286, 0.353, 255, 0x4001734f},
};

TEST(Normalizer, GivesNumpysBits) {
  for (const Expected& expected : kNumpy) {
    const Normalizer normalizer({1, 1, 1}, {expected.mean}, {expected.stddev});
    float value = 0;
    normalizer.Apply({expected.byte}, &value);
    EXPECT_EQ(std::bit_cast<uint32_t>(value), expected.bits)
        << expected.mean << " " << expected.stddev << " " << int{expected.byte};
  }
}

TEST(Normalizer, TakesEachChannelsOwnNumbers) {
  const Normalizer normalizer({3, 1, 2}, {0, 0.5, 1}, {1, 0.5, 0.25});
  std::vector<float> values(6);
  normalizer.Apply({0, 255, 0, 255, 0, 255}, values.data());
  EXPECT_EQ(values, (std::vector<float>{0, 1, -1, 1, -4, 0}));
}

}  // namespace
}  // namespace tributary
