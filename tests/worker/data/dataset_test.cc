#include "worker/data/dataset.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "tests/worker/data/data_bytes.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr Shape kShape{1, 2, 3};
constexpr Shape kColourShape{3, 32, 32};

std::string Images(uint32_t count, int first) {
  return Words({0x803, count, 2, 3}) + Counting(int64_t{count} * 6, first);
}
std::string Labels(uint32_t count) {
  return Words({0x801, count}) + Counting(count);
}

DataConfig Config(const TempDir& dir, DataConfig::Format format = DataConfig::Format::kAuto) {
  DataConfig config;
  config.format = format;
  config.dir = dir.path();
  config.classes = 4;
  config.mean = {0};
  config.stddev = {1};
  return config;
}

void WriteCifar10(const TempDir& dir, const std::string& ending = "") {
  for (int batch = 1; batch <= 5; ++batch) {
    dir.Write(absl::StrCat("data_batch_", batch, ".bin", ending),
              Cifar10Record(batch % 4, batch) + Cifar10Record(0, 10 + batch));
  }
  dir.Write("test_batch.bin" + ending, Cifar10Record(3, 77));
}

TEST(Dataset, LoadsIdxWhateverTheNamesAndWhetherCompressed) {
  // The ending says nothing: a name with .gz may hold a raw file, one without a compressed one.
  for (const char* ending : {"", ".gz"}) {
    for (const bool compressed : {false, true}) {
      for (const auto format : {DataConfig::Format::kAuto, DataConfig::Format::kIdx}) {
        const TempDir dir;
        const auto write = [&](const std::string& name, const std::string& content) {
          dir.Write(name + ending, compressed ? Gzip(content) : content);
        };
        write("train-images-idx3-ubyte", Images(3, 0));
        write("train-labels-idx1-ubyte", Labels(3));
        write("t10k-images-idx3-ubyte", Images(2, 50));
        write("t10k-labels-idx1-ubyte", Labels(2));
        const auto dataset = LoadDataset(Config(dir, format), kShape, 1);
        ASSERT_TRUE(dataset.ok()) << dataset.status();
        EXPECT_EQ(dataset->train.samples(), 3);
        EXPECT_EQ(dataset->train.shape, kShape);
        EXPECT_THAT(dataset->train.labels, ElementsAre(0, 1, 2));
        EXPECT_THAT(dataset->train.image(2), ElementsAre(12, 13, 14, 15, 16, 17));
        EXPECT_THAT(dataset->test.labels, ElementsAre(0, 1));
        EXPECT_THAT(dataset->test.image(0), ElementsAre(50, 51, 52, 53, 54, 55));
      }
    }
  }
}

TEST(Dataset, LoadsFilesUnderNamesOfTheirOwnOneAfterTheOther) {
  const TempDir dir;
  dir.Write("a", Images(1, 0));
  dir.Write("b.gz", Gzip(Images(2, 100)));
  dir.Write("la", Labels(1));
  dir.Write("lb", Labels(2));
  DataConfig config = Config(dir);
  config.train_images = {"a", "b"};
  config.train_labels = {"la", "lb"};
  config.test_images = {dir.File("a")};  // a whole path stands for itself
  config.test_labels = {"la"};
  const auto dataset = LoadDataset(config, kShape, 1);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_THAT(dataset->train.labels, ElementsAre(0, 0, 1));
  EXPECT_THAT(dataset->train.image(0), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(dataset->train.image(1), ElementsAre(100, 101, 102, 103, 104, 105));
  EXPECT_EQ(dataset->test.samples(), 1);
}

TEST(Dataset, ANameAsItIsGoesBeforeTheNameWithAnEnding) {
  const TempDir dir;
  dir.Write("images", Images(1, 0));
  dir.Write("images.gz", Gzip(Images(1, 100)));
  dir.Write("labels", Labels(1));
  DataConfig config = Config(dir);
  config.test_images = {"images"};
  config.test_labels = {"labels"};
  EXPECT_THAT(LoadTestSet(config, kShape, 1)->test.image(0), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Dataset, LoadsCifar10OfSeveralFiles) {
  for (const auto format : {DataConfig::Format::kAuto, DataConfig::Format::kCifar10}) {
    for (const char* ending : {"", ".gz"}) {
      const TempDir dir;
      WriteCifar10(dir, ending);
      const auto dataset = LoadDataset(Config(dir, format), kColourShape, 1);
      ASSERT_TRUE(dataset.ok()) << dataset.status();
      EXPECT_THAT(dataset->train.labels, ElementsAre(1, 0, 2, 0, 3, 0, 0, 0, 1, 0));
      EXPECT_THAT(dataset->train.image(4), ::testing::Each(3));
      EXPECT_THAT(dataset->train.image(9), ::testing::Each(15));
      EXPECT_THAT(dataset->test.labels, ElementsAre(3));
      EXPECT_THAT(dataset->test.image(0), ::testing::Each(77));
    }
  }
}

TEST(Dataset, AutoTellsColourInIdxFromCifar10) {
  const TempDir dir;
  const std::string images = Words({0x804, 1, 3, 32, 32}) + Counting(3072);
  dir.Write("images", images);
  dir.Write("labels", Labels(1));
  DataConfig config = Config(dir);
  config.train_images = config.test_images = {"images"};
  config.train_labels = config.test_labels = {"labels"};
  const auto dataset = LoadDataset(config, kColourShape, 1);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_THAT(dataset->train.image(0), ElementsAreArray(AsBytes(Counting(3072))));
}

TEST(Dataset, TheTestSetAloneLeavesTheTrainingFilesUnread) {
  const TempDir dir;
  dir.Write("t10k-images-idx3-ubyte", Images(2, 50));
  dir.Write("t10k-labels-idx1-ubyte", Labels(2));
  const auto dataset = LoadTestSet(Config(dir), kShape, 1);
  ASSERT_TRUE(dataset.ok()) << dataset.status();
  EXPECT_EQ(dataset->train.samples(), 0);
  EXPECT_EQ(dataset->test.samples(), 2);
  EXPECT_EQ(dataset->fingerprint, 0);
}

TEST(Dataset, FingerprintIsFnv1aOfLabelsAndPixelsOfBothSets) {
  const TempDir dir;
  const std::string image = Words({0x803, 1, 1, 1});
  const std::string label = Words({0x801, 1});
  dir.Write("train-images-idx3-ubyte", image + "o");
  dir.Write("train-labels-idx1-ubyte", label + "f");
  dir.Write("t10k-images-idx3-ubyte", image + "b");
  dir.Write("t10k-labels-idx1-ubyte", label + "o");
  DataConfig config = Config(dir);
  config.classes = 256;
  // Train labels, train pixels, test labels, test pixels are "foob", one of the test vectors of
  // http://www.isthe.com/chongo/tech/comp/fnv/.
  EXPECT_EQ(LoadDataset(config, {1, 1, 1}, 1)->fingerprint, 0xdd120e790c2512af);
}

}  // namespace
}  // namespace tributary
