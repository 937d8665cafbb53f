#include "worker/data/cifar10.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/data/data_bytes.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;

TEST(Cifar10, ReadsRecordsRawAndCompressed) {
  const std::string content = std::string(1, '\x05') + Counting(3072) + Cifar10Record(9, 200);
  for (const std::string& file_content : {content, Gzip(content)}) {
    const auto file = OpenBytes("batch", file_content).value();
    std::vector<uint8_t> pixels;
    std::vector<uint8_t> labels;
    ASSERT_TRUE(ReadCifar10(*file, 10, 2, pixels, labels).ok());
    EXPECT_THAT(labels, ElementsAre(5, 9));
    ASSERT_EQ(pixels.size(), 6144);
    EXPECT_EQ(pixels[0], 0);
    EXPECT_EQ(pixels[1000], 1000 % 256);
    EXPECT_EQ(pixels[3071], 3071 % 256);
    EXPECT_EQ(pixels[3072], 200);
    EXPECT_EQ(pixels[6143], 200);
  }
}

TEST(Cifar10, ACompressedFileUnfoldsToNoMoreThanTheLimit) {
  const std::string bomb = Gzip(Zeros(10'000'000));
  const auto file = OpenBytes("batch", bomb).value();
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;
  EXPECT_EQ(ReadCifar10(*file, 10, 3, pixels, labels).message(),
            "batch: byte 9219 of the decompressed content: number of images: found more than 3, "
            "allowed 1 to 3 in a file");
  EXPECT_EQ(labels.size(), 3);
}

}  // namespace
}  // namespace tributary
