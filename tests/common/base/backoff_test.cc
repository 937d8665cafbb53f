#include "common/base/backoff.h"

#include "gtest/gtest.h"

namespace tributary {
namespace {

TEST(Backoff, DoublesUpToItsBoundWithJitterInTheUpperHalf) {
  for (int run = 0; run < 100; ++run) {
    Backoff backoff(0.1, 1.5);
    for (const double most : {0.1, 0.2, 0.4, 0.8, 1.5, 1.5, 1.5}) {
      const double seconds = backoff.NextSeconds();
      EXPECT_GE(seconds, most / 2);
      EXPECT_LE(seconds, most);
    }
  }
}

TEST(Backoff, StartsAgainAfterAReset) {
  Backoff backoff(0.1, 10);
  for (int i = 0; i < 5; ++i) backoff.NextSeconds();
  backoff.Reset();
  EXPECT_LE(backoff.NextSeconds(), 0.1);
}

}  // namespace
}  // namespace tributary
