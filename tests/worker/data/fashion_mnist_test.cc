// The real images of Debian's package dataset-fashion-mnist. The numbers were computed with numpy
// from the files.
#include <cmath>
#include <filesystem>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker/data/batch_source.h"
#include "worker/data/dataset.h"

namespace tributary {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

constexpr char kDir[] = "/usr/share/datasets/fashion-mnist";
constexpr Shape kShape{1, 28, 28};

int64_t Sum(absl::Span<const uint8_t> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

std::vector<int64_t> CountLabels(const LabelledImages& set) {
  std::vector<int64_t> counts(10);
  for (const uint8_t label : set.labels) ++counts[label];
  return counts;
}

class FashionMnist : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(std::filesystem::path(kDir) / "train-images-idx3-ubyte.gz")) {
      GTEST_SKIP() << "no images in " << kDir << " (package dataset-fashion-mnist)";
    }
    config_.dir = kDir;
    config_.classes = 10;
    config_.mean = {0.2860};
    config_.stddev = {0.3530};
  }
  DataConfig config_;
};

TEST_F(FashionMnist, IsReadToTheLastByte) {
  const auto dataset = LoadDataset(config_, kShape, 1);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  const LabelledImages& train = dataset->train;
  ASSERT_EQ(train.samples(), 60000);
  EXPECT_EQ(Sum(train.pixels), 3431114169);
  EXPECT_EQ(Sum(train.image(0)), 76247);
  EXPECT_EQ(Sum(train.image(1)), 84598);
  EXPECT_EQ(Sum(train.image(12345)), 97611);
  EXPECT_EQ(Sum(train.image(59999)), 16684);
  EXPECT_EQ(train.image(0)[14 * 28 + 14], 217);
  EXPECT_THAT(std::vector<uint8_t>(train.labels.begin(), train.labels.begin() + 8),
              ElementsAre(9, 0, 0, 3, 0, 2, 7, 2));
  EXPECT_THAT(CountLabels(train), Each(6000));

  const LabelledImages& test = dataset->test;
  ASSERT_EQ(test.samples(), 10000);
  EXPECT_EQ(Sum(test.pixels), 573469082);
  EXPECT_EQ(Sum(test.image(0)), 33456);
  EXPECT_EQ(Sum(test.image(9999)), 24390);
  EXPECT_EQ(test.image(9999)[20 * 28 + 10], 57);
  EXPECT_THAT(std::vector<uint8_t>(test.labels.begin(), test.labels.begin() + 8),
              ElementsAre(9, 2, 1, 1, 6, 1, 4, 6));
  EXPECT_THAT(CountLabels(test), Each(1000));

  EXPECT_EQ(dataset->fingerprint, 0xeacbe320dc35bb88);
}

TEST_F(FashionMnist, NormalisedHasMeanZeroAndDeviationOne) {
  // 0.2860405969887955 and 0.35302424451492237 to four digits are the job file's numbers.
  const auto dataset = LoadDataset(config_, kShape, 1);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  double sum = 0;
  double sum_of_squares = 0;
  for (int64_t begin = 0; begin < 60000; begin += 500) {
    const EvaluationBatch batch =
        MakeEvaluationBatch(dataset->train, config_, {begin, begin + 500});
    for (const float value : batch.images) {
      sum += value;
      sum_of_squares += double{value} * value;
    }
  }
  const double count = 60000.0 * 784;
  const double mean = sum / count;
  EXPECT_NEAR(mean, (0.2860405969887955 - 0.2860) / 0.3530, 1e-6);
  EXPECT_NEAR(std::sqrt(sum_of_squares / count - mean * mean), 0.35302424451492237 / 0.3530, 1e-6);
}

}  // namespace
}  // namespace tributary
