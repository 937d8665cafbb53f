// The coordinator's promises under random trouble, in hundreds of small clusters.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/coordinator/cluster_model.h"

namespace tributary {
namespace {

constexpr uint32_t kSeeds = 600;

TEST(CoordinatorUnderTrouble, EveryJobEndsWithEverySlotAndEveryTestImageCounted) {
  ClusterModel::Counts sum;
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    ClusterModel cluster(seed);
    EXPECT_THAT(cluster.Run(), testing::IsEmpty()) << "seed " << seed;
    const ClusterModel::Counts& counts = cluster.counts();
    sum.events += counts.events;
    sum.lost_workers += counts.lost_workers;
    sum.rejoined += counts.rejoined;
    sum.orphans_by_renew += counts.orphans_by_renew;
    sum.orphans_by_ask += counts.orphans_by_ask;
    sum.shards_apart += counts.shards_apart;
    sum.late_messages += counts.late_messages;
    sum.evaluations += counts.evaluations;
  }
  // The trouble was there: each kind many times.
  EXPECT_GT(sum.events, kSeeds * 1000);
  EXPECT_GT(sum.lost_workers, 1000);
  EXPECT_GT(sum.rejoined, 1000);
  EXPECT_GT(sum.orphans_by_renew, 1000);
  EXPECT_GT(sum.orphans_by_ask, 100);
  EXPECT_GT(sum.shards_apart, 1000);
  EXPECT_GT(sum.late_messages, 1000);
  EXPECT_GT(sum.evaluations, kSeeds);
}

}  // namespace
}  // namespace tributary
