#include "common/base/philox.h"

#include <array>
#include <cstdint>
#include <set>

#include "gtest/gtest.h"

namespace tributary {
namespace {

using Block = std::array<uint32_t, 4>;

// Random123's tests/kat_vectors, "philox4x32 10".
TEST(Philox, AgreesWithTheKnownAnswersOfRandom123) {
  struct KnownAnswer {
    Block counter;
    std::array<uint32_t, 2> key;
    Block expected;
  };
  constexpr KnownAnswer kAnswers[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const KnownAnswer& answer : kAnswers) {
    EXPECT_EQ(Philox4x32(answer.counter, answer.key), answer.expected);
  }
}

TEST(RandomStream, PutsIndexStreamAndUseIntoTheCounterAndTheSeedIntoTheKey) {
  const RandomStream stream(0x1122334455667788, RandomUse::kDropout, 0xabcd'12345678);
  EXPECT_EQ(stream.At(0x99aabbccddeeff00),
            Philox4x32({0xddeeff00, 0x99aabbcc, 0x12345678, 0x0003abcd}, {0x55667788, 0x11223344}));
}

TEST(RandomStream, UsesKeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(RandomUse::kInitialization), 1);
  EXPECT_EQ(static_cast<int>(RandomUse::kSampleOrder), 2);
  EXPECT_EQ(static_cast<int>(RandomUse::kDropout), 3);
  EXPECT_EQ(static_cast<int>(RandomUse::kSyntheticData), 4);
}

TEST(RandomStream, SeedsUsesStreamsAndIndicesAllDiffer) {
  std::set<Block> blocks;
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32}) {
    for (const auto use : {RandomUse::kInitialization, RandomUse::kSampleOrder}) {
      for (const uint64_t stream : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32}) {
        for (const uint64_t index : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32}) {
          blocks.insert(RandomStream(seed, use, stream).At(index));
        }
      }
    }
  }
  EXPECT_EQ(blocks.size(), 3 * 2 * 3 * 3);
}

TEST(UnitFloat, IsExactAndBelowOne) {
  EXPECT_EQ(UnitFloat(0), 0.0f);
  EXPECT_EQ(UnitFloat(0xff), 0.0f);
  EXPECT_EQ(UnitFloat(0x100), 0x1p-24f);
  EXPECT_EQ(UnitFloat(0x80000000), 0.5f);
  EXPECT_EQ(UnitFloat(0xffffffff), 1.0f - 0x1p-24f);
}

}  // namespace
}  // namespace tributary
