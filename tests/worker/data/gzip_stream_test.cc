#include "worker/data/gzip_stream.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/worker/data/data_bytes.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Everything that is left, read in pieces of `piece` bytes.
absl::StatusOr<std::string> ReadAll(ByteStream& stream, size_t piece) {
  std::string all;
  std::vector<uint8_t> buffer(piece);
  while (true) {
    const absl::StatusOr<int64_t> bytes = stream.Read(absl::MakeSpan(buffer));
    if (!bytes.ok()) return bytes.status();
    all.append(buffer.begin(), buffer.begin() + *bytes);
    if (*bytes < static_cast<int64_t>(piece)) return all;
  }
}

absl::StatusOr<std::string> ReadAll(std::string_view content, size_t piece = 1 << 20) {
  auto stream = OpenBytes("file", content);
  return stream.ok() ? ReadAll(**stream, piece) : stream.status();
}

// Bytes that do not compress well, so that the compressed file is longer than any buffer.
std::string Noise(size_t size) {
  std::string bytes;
  uint32_t state = 1;
  while (bytes.size() < size) {
    state = state * 1664525 + 1013904223;
    bytes.push_back(static_cast<char>(state >> 24));
  }
  return bytes;
}

TEST(GzipStream, ReadsWhatPythonCompressed) {
  // gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0, 3, 1, 2, 0]), mtime=0) of Python 3.11.
  const std::string compressed =
      absl::HexStringToBytes("1f8b08000000000002036360e06064606060666462000031b4b43d0b000000");
  EXPECT_EQ(ReadAll(compressed).value(), std::string("\0\0\x8\1\0\0\0\3\1\2\0", 11));
}

TEST(GzipStream, LeavesAFileAsItIsThatIsNotCompressed) {
  for (const std::string content : {"", "\x1f", "plain text", "\x8b\x1f"}) {
    EXPECT_EQ(ReadAll(content).value(), content);
  }
}

TEST(GzipStream, GivesTheSameBytesWhateverThePieces) {
  const std::string content = Noise(300'000) + std::string(200'000, 'a');
  const std::string compressed = Gzip(content);
  for (const size_t piece : {1, 7, 4096, 65536, 1'000'000}) {
    EXPECT_EQ(ReadAll(compressed, piece).value(), content) << piece;
  }
}

TEST(GzipStream, JoinsMembers) {
  EXPECT_EQ(ReadAll(Gzip("one ") + Gzip("") + Gzip("") + Gzip("two")).value(), "one two");
}

TEST(GzipStream, PeekTakesNothing) {
  const std::string compressed = Gzip("0123456789");
  const auto stream = OpenBytes("file", compressed).value();
  EXPECT_THAT(stream->Peek(2).value(), ElementsAre('0', '1'));
  EXPECT_THAT(stream->Peek(4).value(), ElementsAre('0', '1', '2', '3'));
  EXPECT_THAT(stream->Peek(1).value(), ElementsAre('0'));
  EXPECT_EQ(stream->position(), 0);
  EXPECT_EQ(ReadAll(*stream, 3).value(), "0123456789");
  EXPECT_TRUE(stream->Peek(4).value().empty());
}

TEST(GzipStream, NeverHoldsLessThanItPromises) {
  // The best that deflate can do is about 1:1030.
  const std::string content = Zeros(10'000'000);
  const std::string compressed = Gzip(content);
  ASSERT_LT(compressed.size(), 10'000);
  const auto stream = OpenBytes("file", compressed).value();
  EXPECT_GE(stream->most_remaining(), 10'000'000);
  EXPECT_LE(stream->most_remaining(), 1032 * static_cast<int64_t>(compressed.size()));
  const int64_t before = stream->most_remaining();
  std::vector<uint8_t> some(1000);
  ASSERT_EQ(stream->Read(absl::MakeSpan(some)).value(), 1000);
  EXPECT_EQ(stream->most_remaining(), before - 1000);
}

TEST(GzipStream, EveryTruncationIsAnError) {
  const std::string compressed = Gzip(Noise(100));
  for (size_t size = 2; size < compressed.size(); ++size) {
    const absl::StatusOr<std::string> content = ReadAll(compressed.substr(0, size));
    ASSERT_FALSE(content.ok()) << size;
    EXPECT_THAT(std::string(content.status().message()),
                HasSubstr("file: byte " + std::to_string(size) +
                          " of the gzip file: found the end of the file, expected more"));
  }
}

TEST(GzipStream, EveryFlippedByteIsAnError) {
  // But for the header's fields without meaning: time (4-7), extra flags (8), operating system (9),
  // and the text flag (bit 0 of byte 3).
  const std::string compressed = Gzip("some text that is to be read back, some text");
  for (size_t i = 10; i < compressed.size(); ++i) {
    std::string broken = compressed;
    broken[i] = static_cast<char>(~broken[i]);
    const absl::StatusOr<std::string> content = ReadAll(broken);
    ASSERT_FALSE(content.ok()) << i;
    EXPECT_EQ(content.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(content.status().message()), HasSubstr(" of the gzip file: found "));
  }
}

TEST(GzipStream, BytesAfterTheEndAreAnError) {
  const std::string compressed = Gzip("content");
  const std::string place = "file: byte " + std::to_string(compressed.size());
  for (const char* garbage : {"x", "\x8b\x1f", "trailing"}) {
    const absl::StatusOr<std::string> content = ReadAll(compressed + garbage);
    ASSERT_FALSE(content.ok());
    EXPECT_EQ(content.status().message(),
              place +
                  " of the gzip file: found bytes that are no gzip data, expected the end of the "
                  "file");
  }
  EXPECT_FALSE(ReadAll(compressed + std::string(512, '\0')).ok());
  EXPECT_FALSE(ReadAll(compressed + "\x1f\x8b").ok());
}

}  // namespace
}  // namespace tributary
