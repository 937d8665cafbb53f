#include "worker/data/idx.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/data/data_bytes.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

TEST(Idx, ReadsGreyImages) {
  const std::string content = Words({0x803, 2, 2, 3}) + Counting(12, 100);
  MemoryStream file("images", AsBytes(content));
  std::vector<uint8_t> pixels;
  ASSERT_TRUE(ReadIdxImages(file, {1, 2, 3}, pixels).ok());
  EXPECT_THAT(pixels, ElementsAre(100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111));
}

TEST(Idx, ReadsImagesWithChannels) {
  for (const int64_t channels : {1, 2, 3}) {
    const auto count = static_cast<uint32_t>(channels);
    const std::string content = Words({0x804, 2, count, 1, 2}) + Counting(channels * 4);
    MemoryStream file("images", AsBytes(content));
    std::vector<uint8_t> pixels;
    ASSERT_TRUE(ReadIdxImages(file, {channels, 1, 2}, pixels).ok());
    EXPECT_THAT(pixels, ElementsAreArray(AsBytes(Counting(channels * 4)))) << channels;
  }
}

TEST(Idx, AppendsToWhatIsThere) {
  const std::string images = Words({0x803, 1, 1, 2}) + Counting(2, 7);
  const std::string labels = Words({0x801, 1}) + Counting(1, 3);
  MemoryStream images_file("images", AsBytes(images));
  MemoryStream labels_file("labels", AsBytes(labels));
  std::vector<uint8_t> pixels{1, 2};
  std::vector<uint8_t> numbers{9};
  ASSERT_TRUE(ReadIdxImages(images_file, {1, 1, 2}, pixels).ok());
  ASSERT_TRUE(ReadIdxLabels(labels_file, 1, "images", 4, numbers).ok());
  EXPECT_THAT(pixels, ElementsAre(1, 2, 7, 8));
  EXPECT_THAT(numbers, ElementsAre(9, 3));
}

TEST(Idx, TheLargestLabelIsOneBelowTheNumberOfClasses) {
  const std::string content = Words({0x801, 3}) + std::string("\x00\x09\xff", 3);
  std::vector<uint8_t> labels;
  MemoryStream enough("labels", AsBytes(content));
  EXPECT_TRUE(ReadIdxLabels(enough, 3, "images", 256, labels).ok());
  EXPECT_THAT(labels, ElementsAre(0, 9, 255));
  MemoryStream too_few("labels", AsBytes(content));
  EXPECT_EQ(ReadIdxLabels(too_few, 3, "images", 255, labels).message(),
            "labels: byte 10: label: found 255, allowed 0 to 254");
}

TEST(Idx, ASizeIsCheckedBeforeMemoryIsTaken) {
  // 2^31 images of a kilobyte: two terabytes in 16 bytes, and in a few compressed ones.
  const std::string header = Words({0x803, 0x80000000, 1, 1});
  for (const std::string& content : {header, Gzip(header)}) {
    std::vector<uint8_t> pixels;
    const auto file = OpenBytes("images", content).value();
    EXPECT_FALSE(ReadIdxImages(*file, {1, 1, 1}, pixels).ok());
    EXPECT_EQ(pixels.capacity(), 0);
  }
}

TEST(Idx, AGzipBombUnfoldsToNoMoreThanTheHeaderSays) {
  const std::string bomb = Gzip(Words({0x803, 2, 2, 3}) + std::string(12, 'x') + Zeros(50'000'000));
  std::vector<uint8_t> pixels;
  const auto file = OpenBytes("images", bomb).value();
  EXPECT_EQ(
      ReadIdxImages(*file, {1, 2, 3}, pixels).message(),
      "images: byte 28 of the decompressed content: found more bytes, expected the end of the "
      "file");
  EXPECT_EQ(file->position(), 29);
  EXPECT_EQ(pixels.capacity(), 12);
}

TEST(Idx, IsToldByItsFirstFourBytes) {
  const auto starts = [](std::string_view bytes) { return StartsAsIdx(AsBytes(bytes)); };
  EXPECT_TRUE(starts(Words({0x803})));
  EXPECT_TRUE(starts(Words({0x804})));
  EXPECT_TRUE(starts(Words({0xD03})));  // floats: meant as IDX, refused with a reason
  EXPECT_FALSE(starts(Words({0x800})));
  EXPECT_FALSE(starts(Words({0x703})));
  EXPECT_FALSE(starts(Words({0x01000803})));
  EXPECT_FALSE(starts(std::string_view("\0\0\x8", 3)));
  EXPECT_FALSE(starts(""));
}

}  // namespace
}  // namespace tributary
