// The promise: the same job and seed give the same weights, to the bit, whatever the cluster. Local
// mode is the model that every cluster is checked against.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/e2e/cluster_jobs.h"
#include "tests/support/cluster.h"

namespace tributary {
namespace {

// Sgd with momentum, 50 samples in batches of 16: the last batch of an epoch has 2 samples for 4
// slots, so that two slots are empty.
constexpr char kRules[] =
    "optimizer { sgd { momentum: 0.9 weight_decay: 1e-3 } } "
    "learning_rate { base: 0.05 warmup_steps: 2 cosine {} } "
    "training { epochs: 2 global_batch: 16 slots: 4 }";

// Two tensors, more servers than that; dropout, whose masks must not depend on who computes.
constexpr char kTinyModel[] =
    "model { name: 'tiny' input { channels: 1 height: 4 width: 4 } layer { flatten {} } "
    "layer { dropout { probability: 0.5 } } layer { name: 'fc' dense { out_features: 10 } } "
    "layer { softmax_cross_entropy {} } }";

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void ExpectSame(const TrainedState& found, const TrainedState& expected) {
  EXPECT_EQ(found.version, expected.version);
  EXPECT_TRUE(SameBits(found.parameters, expected.parameters)) << "parameters differ";
  ASSERT_EQ(found.optimizer.size(), expected.optimizer.size());
  for (const auto& [name, values] : expected.optimizer) {
    EXPECT_TRUE(SameBits(found.optimizer.at(name), values)) << name << " differs";
  }
}

struct Case {
  std::string name;
  std::string job;
};

class BitEquality : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const absl::StatusOr<TrainedState> local = TrainLocally(job_, 1);
    ASSERT_TRUE(local.ok()) << local.status();
    local_ = *local;
    // Four steps an epoch, two epochs; not what it started from.
    ASSERT_EQ(local_.version, 8);
    ASSERT_FALSE(local_.optimizer.empty());
  }

  const LoadedJob job_ = SyntheticJob(GetParam().job);
  TrainedState local_;
};

TEST_P(BitEquality, HoldsForEveryNumberOfWorkersAndServers) {
  for (const int servers : {1, 2, 3, 5}) {
    for (const int workers : {1, 2, 3, 4}) {
      SCOPED_TRACE(testing::Message() << servers << " servers, " << workers << " workers");
      const absl::StatusOr<TrainedState> cluster =
          TrainInCluster(job_, {.servers = servers, .workers = workers});
      ASSERT_TRUE(cluster.ok()) << cluster.status();
      ExpectSame(*cluster, local_);
    }
  }
}

TEST_P(BitEquality, HoldsForEveryNumberOfThreads) {
  for (const int threads : {2, 3, 8}) {
    SCOPED_TRACE(testing::Message() << threads << " threads");
    const absl::StatusOr<TrainedState> local = TrainLocally(job_, threads);
    ASSERT_TRUE(local.ok()) << local.status();
    ExpectSame(*local, local_);
  }
  const absl::StatusOr<TrainedState> cluster =
      TrainInCluster(job_, {.servers = 2, .workers = 2, .threads = 2});
  ASSERT_TRUE(cluster.ok()) << cluster.status();
  ExpectSame(*cluster, local_);
}

TEST_P(BitEquality, HoldsForEveryChunkSize) {
  for (const int64_t chunk : {64, 1 << 20}) {
    SCOPED_TRACE(testing::Message() << "chunks of " << chunk);
    const absl::StatusOr<TrainedState> cluster =
        TrainInCluster(job_, {.servers = 2, .workers = 2, .chunk_elements = chunk});
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    ExpectSame(*cluster, local_);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, BitEquality,
    testing::Values(Case{"MnistCnn", ModelText("mnist_cnn") + kRules},
                    Case{"MnistTfCnn",
                         ModelText("mnist_tf_cnn") +
                             "optimizer { adam { keras_epsilon: true epsilon: 1e-7 } } "
                             "learning_rate { base: 1e-3 } "
                             "training { epochs: 2 global_batch: 16 slots: 4 }"},
                    Case{"Tiny", kTinyModel + std::string(kRules)}),
    [](const auto& test) { return test.param.name; });

// What goes over the wire in fewer bits has its own result, the same on every cluster. With error
// feedback that holds as long as no slot changes hands: min_workers sees to it.
class WireTypes : public testing::TestWithParam<Case> {
 protected:
  static LoadedJob JobWith(const std::string& transfer, int min_workers) {
    return SyntheticJob(ModelText("mnist_cnn") +
                        "optimizer { sgd { momentum: 0.9 } } learning_rate { base: 0.05 } "
                        "training { epochs: 2 global_batch: 16 slots: 4 min_workers: " +
                        std::to_string(min_workers) + " } " + transfer);
  }
};

TEST_P(WireTypes, GiveTheSameOnEveryCluster) {
  const absl::StatusOr<TrainedState> local = TrainLocally(JobWith(GetParam().job, 1), 1);
  ASSERT_TRUE(local.ok()) << local.status();
  const absl::StatusOr<TrainedState> in_fp32 = TrainLocally(JobWith("", 1), 1);
  ASSERT_TRUE(in_fp32.ok()) << in_fp32.status();
  EXPECT_FALSE(SameBits(local->parameters, in_fp32->parameters)) << "the type was not used";

  for (const ClusterShape& shape :
       {ClusterShape{.servers = 1, .workers = 1}, ClusterShape{.servers = 1, .workers = 4},
        ClusterShape{.servers = 2, .workers = 3}, ClusterShape{.servers = 3, .workers = 2},
        ClusterShape{.servers = 2, .workers = 2, .threads = 2},
        ClusterShape{.servers = 2, .workers = 2, .chunk_elements = 64},
        ClusterShape{.servers = 5, .workers = 2, .chunk_elements = 1 << 20}}) {
    SCOPED_TRACE(testing::Message()
                 << shape.servers << " servers, " << shape.workers << " workers of "
                 << shape.threads << " threads, chunks of " << shape.chunk_elements);
    const absl::StatusOr<TrainedState> cluster =
        TrainInCluster(JobWith(GetParam().job, shape.workers), shape);
    ASSERT_TRUE(cluster.ok()) << cluster.status();
    ExpectSame(*cluster, *local);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Types, WireTypes,
    testing::Values(Case{"Bf16", "transfer { push: BF16 pull: BF16 }"},
                    Case{"Fp16", "transfer { push: FP16 pull: FP16 }"},
                    Case{"Int8", "transfer { push: INT8 }"},
                    Case{"PullInt8", "transfer { pull: INT8 }"},
                    Case{"Bf16Feedback", "transfer { push: BF16 error_feedback: true }"},
                    Case{"Int8Feedback", "transfer { push: INT8 error_feedback: true }"},
                    Case{"TopK", "transfer { push: TOP_K top_k_ratio: 0.1 }"},
                    Case{"TopKFeedback",
                         "transfer { push: TOP_K pull: BF16 error_feedback: true }"}),
    [](const auto& test) { return test.param.name; });

// The other side of it: what is meant to change the weights does.
TEST(BitEquality, AnotherSeedGivesOtherWeights) {
  LoadedJob job = SyntheticJob(kTinyModel + std::string(kRules));
  const absl::StatusOr<TrainedState> one = TrainLocally(job, 1);
  job.job.seed = 8;
  const absl::StatusOr<TrainedState> other = TrainLocally(job, 1);
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_FALSE(SameBits(one->parameters, other->parameters));
}

}  // namespace
}  // namespace tributary
