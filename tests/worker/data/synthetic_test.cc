#include "worker/data/synthetic.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;

constexpr Shape kShape{1, 28, 28};

// The class whose mean over `train` is nearest.
int NearestMean(const std::vector<std::vector<double>>& means, absl::Span<const uint8_t> image) {
  int nearest = 0;
  double least = 1e300;
  for (size_t label = 0; label < means.size(); ++label) {
    double distance = 0;
    for (size_t i = 0; i < image.size(); ++i) {
      distance += (image[i] - means[label][i]) * (image[i] - means[label][i]);
    }
    if (distance < least) {
      least = distance;
      nearest = static_cast<int>(label);
    }
  }
  return nearest;
}

TEST(Synthetic, TheTestSetIsLearnedFromTheTrainingSet) {
  const LabelledImages train = MakeSyntheticImages(SyntheticPart::kTrain, 500, 10, kShape, 3);
  const LabelledImages test = MakeSyntheticImages(SyntheticPart::kTest, 200, 10, kShape, 3);
  std::vector<std::vector<double>> means(10, std::vector<double>(784));
  for (int64_t i = 0; i < 500; ++i) {
    for (size_t p = 0; p < 784; ++p) means[train.labels[i]][p] += train.image(i)[p] / 50.0;
  }
  for (int64_t i = 0; i < 200; ++i) {
    EXPECT_EQ(NearestMean(means, test.image(i)), test.labels[i]) << i;
  }
}

TEST(Synthetic, LabelsGoRoundTheClasses) {
  EXPECT_THAT(MakeSyntheticImages(SyntheticPart::kTrain, 7, 3, {1, 1, 1}, 1).labels,
              ElementsAre(0, 1, 2, 0, 1, 2, 0));
  // A label is a byte.
  const LabelledImages many = MakeSyntheticImages(SyntheticPart::kTrain, 258, 1000, {1, 1, 1}, 1);
  EXPECT_EQ(many.labels[255], 255);
  EXPECT_EQ(many.labels[256], 0);
}

TEST(Synthetic, IsAFunctionOfTheSeedAndTheIndexAlone) {
  const LabelledImages few = MakeSyntheticImages(SyntheticPart::kTrain, 3, 10, kShape, 1);
  const LabelledImages many = MakeSyntheticImages(SyntheticPart::kTrain, 30, 10, kShape, 1);
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(few.image(i), many.image(i));
}

TEST(Synthetic, SeedsPartsAndImagesDiffer) {
  std::set<std::string> seen;
  for (const uint64_t seed : {1, 2}) {
    for (const auto part : {SyntheticPart::kTrain, SyntheticPart::kTest}) {
      const LabelledImages set = MakeSyntheticImages(part, 20, 5, {3, 5, 7}, seed);
      ASSERT_EQ(set.pixels.size(), 20 * 105);
      for (int64_t i = 0; i < 20; ++i) seen.emplace(set.image(i).begin(), set.image(i).end());
    }
  }
  EXPECT_EQ(seen.size(), 80);
}

TEST(Synthetic, APrototypeIsMadeOfSquares) {
  // The mean of many images of one class is (prototype + 127.5) / 2, less the rounding: equal
  // within a square, and across the border of two squares only by chance.
  const LabelledImages set = MakeSyntheticImages(SyntheticPart::kTrain, 4000, 1, {2, 4, 8}, 5);
  std::vector<double> means(64);
  for (int64_t i = 0; i < 4000; ++i) {
    for (size_t p = 0; p < 64; ++p) means[p] += set.image(i)[p] / 4000.0;
  }
  // Deviation of a mean: 37 / sqrt(4000) = 0.6.
  for (size_t p = 0; p < 64; ++p) {
    const size_t corner = p / 32 * 32 + p % 8 / 4 * 4;
    EXPECT_NEAR(means[p], means[corner], 5) << p;
  }
  EXPECT_GT(std::abs(means[0] - means[4]) + std::abs(means[0] - means[32]), 5);
}

}  // namespace
}  // namespace tributary
