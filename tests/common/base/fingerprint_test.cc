#include "common/base/fingerprint.h"

#include <string_view>

#include "gtest/gtest.h"

namespace tributary {
namespace {

using namespace std::string_view_literals;

// Test vectors of http://www.isthe.com/chongo/tech/comp/fnv/ (64-bit FNV-1a).
TEST(Fingerprint, AgreesWithThePublishedVectors) {
  EXPECT_EQ(Fingerprint().value(), 0xcbf29ce484222325);
  EXPECT_EQ(Fingerprint().Add("a"sv).value(), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(Fingerprint().Add("foobar"sv).value(), 0x85944171f73967e8);
}

TEST(Fingerprint, GoesOnWhereItWas) {
  EXPECT_EQ(Fingerprint().Add("foo"sv).Add(""sv).Add("bar"sv).value(), 0x85944171f73967e8);
}

TEST(Fingerprint, ANumberIsEightBytesLeastSignificantFirst) {
  EXPECT_EQ(Fingerprint().Add(uint64_t{0x8877665544332211}).value(),
            Fingerprint().Add("\x11\x22\x33\x44\x55\x66\x77\x88"sv).value());
}

TEST(Fingerprint, BytesAboveHalfAreNotNegative) {
  // (0xcbf29ce484222325 ^ 0xff) * 0x100000001b3 mod 2^64.
  EXPECT_EQ(Fingerprint().Add("\xff"sv).value(), 0xaf64724c8602eb6e);
}

}  // namespace
}  // namespace tributary
