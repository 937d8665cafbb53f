// Every way a data file can be broken gives one line with file, place, what was found and what is
// allowed. The messages are written down in full: they are what a user has to work with.
#include <sys/stat.h>
#include <unistd.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "tests/worker/data/data_bytes.h"
#include "worker/data/dataset.h"

namespace tributary {
namespace {

constexpr Shape kShape{1, 2, 3};
constexpr char kTrainImages[] = "train-images-idx3-ubyte";
constexpr char kTrainLabels[] = "train-labels-idx1-ubyte";
constexpr char kTestImages[] = "t10k-images-idx3-ubyte";
constexpr char kTestLabels[] = "t10k-labels-idx1-ubyte";

std::string Images(uint32_t count) {
  return Words({0x803, count, 2, 3}) + Counting(int64_t{count} * 6);
}
std::string Labels(uint32_t count) {
  return Words({0x801, count}) + Counting(count);
}

DataConfig Config(const TempDir& dir, DataConfig::Format format) {
  DataConfig config;
  config.format = format;
  config.dir = dir.path();
  config.classes = 4;
  config.mean = {0};
  config.stddev = {1};
  return config;
}

// A whole set of 3 and 2 images.
void WriteIdxSet(const TempDir& dir) {
  dir.Write(kTrainImages, Images(3));
  dir.Write(kTrainLabels, Labels(3));
  dir.Write(kTestImages, Images(2));
  dir.Write(kTestLabels, Labels(2));
}

// The message of the error, with the temporary folder written as DIR.
std::string MessageOf(const absl::Status& status, const TempDir& dir) {
  return absl::StrReplaceAll(status.message(), {{dir.path(), "DIR"}});
}

struct BrokenFile {
  std::string what;
  std::string name;
  std::string content;
  std::string message;  // without the name at its front

  friend void PrintTo(const BrokenFile& file, std::ostream* out) { *out << file.what; }
};

class BrokenIdx : public ::testing::TestWithParam<BrokenFile> {};

TEST_P(BrokenIdx, GivesOneLine) {
  const TempDir dir;
  WriteIdxSet(dir);
  dir.Write(GetParam().name, GetParam().content);
  const auto dataset = LoadDataset(Config(dir, DataConfig::Format::kIdx), kShape, 1);
  ASSERT_FALSE(dataset.ok());
  EXPECT_EQ(dataset.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MessageOf(dataset.status(), dir),
            absl::StrCat("DIR/", GetParam().name, ": ", GetParam().message));
}

const std::string kImageMagics =
    "expected 0x00000803 (images, [N, H, W]) or 0x00000804 (images, [N, C, H, W])";

INSTANTIATE_TEST_SUITE_P(
    Images, BrokenIdx,
    ::testing::ValuesIn(std::vector<BrokenFile>{
        {"Empty", kTrainImages, "",
         "byte 0: magic number: found 0 bytes, expected 4 (the file is empty)"},
        {"EndsInTheMagicNumber", kTrainImages, std::string("\0\0\x8", 3),
         "byte 0: magic number: found 3 bytes, expected 4 (the file is truncated)"},
        {"IsALabelFile", kTrainImages, Labels(3),
         "byte 0: magic number: found 0x00000801, " + kImageMagics},
        {"HasFloats", kTrainImages, Words({0xD03, 3, 2, 3}) + Counting(72),
         "byte 0: magic number: found 0x00000d03, " + kImageMagics},
        {"HasFiveDimensions", kTrainImages, Words({0x805, 3, 1, 1, 2, 3}) + Counting(18),
         "byte 0: magic number: found 0x00000805, " + kImageMagics},
        {"IsLittleEndian", kTrainImages, std::string("\x3\x8\0\0\x3\0\0\0", 8),
         "byte 0: magic number: found 0x03080000, " + kImageMagics},
        {"IsAWebPage", kTrainImages, "<!DOCTYPE html><title>Not found</title>",
         "byte 0: magic number: found 0x3c21444f, " + kImageMagics},
        {"EndsInTheCount", kTrainImages, Words({0x803}) + "xx",
         "byte 4: number of images: found 2 bytes, expected 4 (the file is truncated)"},
        {"EndsBeforeTheWidth", kTrainImages, Words({0x803, 3, 2}),
         "byte 12: width: found 0 bytes, expected 4 (the file is truncated)"},
        {"HasTwoChannels", kTrainImages, Words({0x804, 3, 2, 2, 3}) + Counting(36),
         "byte 8: channels: found 2, expected 1 (the model's input is [1, 2, 3])"},
        {"HasNoHeight", kTrainImages, Words({0x803, 3, 0, 3}),
         "byte 8: height: found 0, expected 2 (the model's input is [1, 2, 3])"},
        {"IsTransposed", kTrainImages, Words({0x803, 3, 3, 2}) + Counting(18),
         "byte 8: height: found 3, expected 2 (the model's input is [1, 2, 3])"},
        {"HasAnAbsurdWidth", kTrainImages, Words({0x803, 3, 2, 0xffffffff}) + Counting(18),
         "byte 12: width: found 4294967295, expected 3 (the model's input is [1, 2, 3])"},
        {"HasMoreImagesThanItHolds", kTrainImages, Words({0x803, 50'000'000, 2, 3}) + Counting(18),
         "byte 16: pixels: found 18 bytes, expected 300000000 (the file is truncated)"},
        {"EndsInThePixels", kTrainImages, Words({0x803, 3, 2, 3}) + Counting(17),
         "byte 16: pixels: found 17 bytes, expected 18 (the file is truncated)"},
        {"GoesOn", kTrainImages, Images(3) + "more",
         "byte 34: found 4 more bytes, expected the end of the file"},
        {"TestSetIsEmpty", kTestImages, "",
         "byte 0: magic number: found 0 bytes, expected 4 (the file is empty)"},
        {"TestSetIsTruncated", kTestImages, Words({0x803, 2, 2, 3}) + Counting(11),
         "byte 16: pixels: found 11 bytes, expected 12 (the file is truncated)"},
    }),
    [](const auto& test) { return test.param.what; });

INSTANTIATE_TEST_SUITE_P(
    Labels, BrokenIdx,
    ::testing::ValuesIn(std::vector<BrokenFile>{
        {"Empty", kTrainLabels, "",
         "byte 0: magic number: found 0 bytes, expected 4 (the file is empty)"},
        {"IsAnImageFile", kTrainLabels, Images(3),
         "byte 0: magic number: found 0x00000803, expected 0x00000801 (labels, [N])"},
        {"HasFewer", kTrainLabels, Labels(2),
         absl::StrCat("byte 4: number of labels: found 2, expected 3 (the images of DIR/",
                      kTrainImages, ")")},
        {"HasMore", kTrainLabels, Labels(4),
         absl::StrCat("byte 4: number of labels: found 4, expected 3 (the images of DIR/",
                      kTrainImages, ")")},
        {"HasAnAbsurdCount", kTestLabels, Words({0x801, 0xffffffff}),
         absl::StrCat("byte 4: number of labels: found 4294967295, expected 2 (the images of DIR/",
                      kTestImages, ")")},
        {"Truncated", kTrainLabels, Words({0x801, 3}) + Counting(2),
         "byte 8: labels: found 2 bytes, expected 3 (the file is truncated)"},
        {"GoesOn", kTrainLabels, Labels(3) + std::string(1, '\0'),
         "byte 11: found 1 more bytes, expected the end of the file"},
        {"LabelTooLarge", kTrainLabels, Words({0x801, 3}) + std::string("\x3\x4\x5"),
         "byte 9: label: found 4, allowed 0 to 3"},
        {"LabelOfTestSetTooLarge", kTestLabels, Words({0x801, 2}) + std::string("\x3\xff"),
         "byte 9: label: found 255, allowed 0 to 3"},
    }),
    [](const auto& test) { return test.param.what; });

std::string FlipByte(std::string bytes, size_t index) {
  bytes[index] = static_cast<char>(bytes[index] ^ 0xff);
  return bytes;
}

INSTANTIATE_TEST_SUITE_P(
    Gzip, BrokenIdx,
    ::testing::ValuesIn(std::vector<BrokenFile>{
        {"HeaderAlone", kTrainImages, Gzip(Images(3)).substr(0, 10),
         "byte 10 of the gzip file: found the end of the file, expected more compressed data"},
        {"WithoutItsLastByte", kTrainImages, Gzip(Images(3)).substr(0, Gzip(Images(3)).size() - 1),
         absl::StrCat("byte ", Gzip(Images(3)).size() - 1,
                      " of the gzip file: found the end of the file, expected more compressed "
                      "data")},
        {"UnknownMethod", kTrainImages, FlipByte(Gzip(Images(3)), 2),
         "byte 4 of the gzip file: found unknown compression method, expected gzip data"},
        {"WrongChecksum", kTrainImages, FlipByte(Gzip(Images(3)), Gzip(Images(3)).size() - 8),
         absl::StrCat("byte ", Gzip(Images(3)).size() - 4,
                      " of the gzip file: found incorrect data check, expected gzip data")},
        {"WrongLength", kTrainLabels, FlipByte(Gzip(Labels(3)), Gzip(Labels(3)).size() - 4),
         absl::StrCat("byte ", Gzip(Labels(3)).size(),
                      " of the gzip file: found incorrect length check, expected gzip data")},
        {"GarbageBehind", kTrainImages, Gzip(Images(3)) + "garbage",
         absl::StrCat("byte ", Gzip(Images(3)).size(),
                      " of the gzip file: found bytes that are no gzip data, expected the end of "
                      "the file")},
        {"EmptyContent", kTrainImages, Gzip(""),
         "byte 0 of the decompressed content: magic number: found 0 bytes, expected 4 (the file is "
         "empty)"},
        {"ContentIsTruncated", kTrainImages, Gzip(Words({0x803, 3, 2, 3}) + Counting(17)),
         "byte 16 of the decompressed content: pixels: found 17 bytes, expected 18 (the file is "
         "truncated)"},
        {"ContentGoesOn", kTrainImages, Gzip(Images(3) + std::string(1'000'000, '\0')),
         "byte 34 of the decompressed content: found more bytes, expected the end of the file"},
        {"ContentOfTwoMembersGoesOn", kTrainImages, Gzip(Images(3)) + Gzip("x"),
         "byte 34 of the decompressed content: found more bytes, expected the end of the file"},
        {"CompressedTwice", kTrainImages, Gzip(Gzip(Images(3))),
         "byte 0 of the decompressed content: magic number: found 0x1f8b0800, " + kImageMagics},
        {"LabelTooLarge", kTrainLabels, Gzip(Words({0x801, 3}) + std::string("\x1\x2\x9")),
         "byte 10 of the decompressed content: label: found 9, allowed 0 to 3"},
    }),
    [](const auto& test) { return test.param.what; });

TEST(BrokenIdxFile, ACountBeyondTheLimitsNamesThem) {
  for (const uint32_t count : {uint32_t{0}, uint32_t{0xffffffff}}) {
    const TempDir dir;
    WriteIdxSet(dir);
    dir.Write(kTrainImages, Words({0x803, count, 2, 3}));
    const auto dataset = LoadDataset(Config(dir, DataConfig::Format::kIdx), kShape, 1);
    // The upper limit depends on the memory of the machine.
    const std::string message = MessageOf(dataset.status(), dir);
    EXPECT_EQ(message.find(absl::StrCat("DIR/", kTrainImages, ": byte 4: number of images: found ",
                                        count, ", allowed 1 to ")),
              0)
        << message;
  }
}

TEST(BrokenIdxFile, MoreThanCompressedBytesCanHoldIsRefusedBeforeMemoryIsTaken) {
  const TempDir dir;
  WriteIdxSet(dir);
  const std::string compressed = Gzip(Words({0x803, 50'000'000, 2, 3}));
  dir.Write(kTrainImages, compressed);
  const auto dataset = LoadDataset(Config(dir, DataConfig::Format::kIdx), kShape, 1);
  EXPECT_EQ(MessageOf(dataset.status(), dir),
            absl::StrCat("DIR/", kTrainImages,
                         ": byte 16 of the decompressed content: pixels: found at most ",
                         1032 * compressed.size() - 16,
                         " bytes, expected 300000000 (the file is truncated)"));
}

TEST(BrokenIdxFile, GreyImagesDoNotFitAModelForColour) {
  const TempDir dir;
  WriteIdxSet(dir);
  const auto dataset = LoadDataset(Config(dir, DataConfig::Format::kIdx), {3, 2, 3}, 1);
  EXPECT_EQ(MessageOf(dataset.status(), dir),
            absl::StrCat("DIR/", kTrainImages,
                         ": byte 0: magic number: found 0x00000803, expected 0x00000804 (images, "
                         "[N, C, H, W]; the model's input is [3, 2, 3])"));
}

struct BrokenFolder {
  std::string what;
  std::function<void(const TempDir&)> damage;
  absl::StatusCode code;
  std::string message;

  friend void PrintTo(const BrokenFolder& folder, std::ostream* out) { *out << folder.what; }
};

class BrokenFolderOfFiles : public ::testing::TestWithParam<BrokenFolder> {};

TEST_P(BrokenFolderOfFiles, GivesOneLine) {
  const TempDir dir;
  WriteIdxSet(dir);
  GetParam().damage(dir);
  const auto dataset = LoadDataset(Config(dir, DataConfig::Format::kIdx), kShape, 1);
  ASSERT_FALSE(dataset.ok());
  EXPECT_EQ(dataset.status().code(), GetParam().code);
  EXPECT_EQ(MessageOf(dataset.status(), dir), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Files, BrokenFolderOfFiles,
    ::testing::ValuesIn(std::vector<BrokenFolder>{
        {"NoImages", [](const TempDir& dir) { unlink(dir.File(kTrainImages).c_str()); },
         absl::StatusCode::kNotFound,
         absl::StrCat("data.train_images: found no file, expected one of DIR/", kTrainImages,
                      ", DIR/", kTrainImages, ".gz")},
        {"NoTestLabels", [](const TempDir& dir) { unlink(dir.File(kTestLabels).c_str()); },
         absl::StatusCode::kNotFound,
         absl::StrCat("data.test_labels: found no file, expected one of DIR/", kTestLabels,
                      ", DIR/", kTestLabels, ".gz")},
        {"NoFolder", [](const TempDir& dir) { std::filesystem::remove_all(dir.path()); },
         absl::StatusCode::kNotFound,
         absl::StrCat("data.train_images: found no file, expected one of DIR/", kTrainImages,
                      ", DIR/", kTrainImages, ".gz")},
        {"FolderInsteadOfAFile",
         [](const TempDir& dir) {
           unlink(dir.File(kTrainLabels).c_str());
           mkdir(dir.File(kTrainLabels).c_str(), 0700);
         },
         absl::StatusCode::kInvalidArgument,
         absl::StrCat("data.train_labels: DIR/", kTrainLabels,
                      ": found a folder, expected a regular file")},
        {"PipeInsteadOfAFile",
         [](const TempDir& dir) {
           unlink(dir.File(kTrainImages).c_str());
           mkfifo(dir.File(kTrainImages).c_str(), 0600);
         },
         absl::StatusCode::kInvalidArgument,
         absl::StrCat("data.train_images: DIR/", kTrainImages,
                      ": found a special file, expected a regular file")},
        // A file without read permission can be read by root, a circle of links by nobody.
        {"CircleOfLinks",
         [](const TempDir& dir) {
           unlink(dir.File(kTestImages).c_str());
           symlink(kTestImages, dir.File(kTestImages).c_str());
         },
         absl::StatusCode::kInvalidArgument,
         absl::StrCat("data.test_images: DIR/", kTestImages,
                      ": the file cannot be read: Too many levels of symbolic links")},
        {"FileInsteadOfTheFolder",
         [](const TempDir& dir) {
           std::filesystem::remove_all(dir.path());
           std::ofstream(dir.path()) << "a file";
         },
         absl::StatusCode::kInvalidArgument,
         absl::StrCat("data.train_images: DIR/", kTrainImages,
                      ": the file cannot be read: Not a directory")},
    }),
    [](const auto& test) { return test.param.what; });

TEST(BrokenIdxFile, EachFileOfImagesNeedsItsFileOfLabels) {
  const TempDir dir;
  WriteIdxSet(dir);
  DataConfig config = Config(dir, DataConfig::Format::kIdx);
  config.train_images = {kTrainImages, kTestImages};
  EXPECT_EQ(LoadDataset(config, kShape, 1).status().message(),
            "data.train_labels: found 1 names, expected 2 (one for each of data.train_images)");
}

struct BrokenCifar10File {
  std::string what;
  std::string content;
  std::string message;  // without the name at its front

  friend void PrintTo(const BrokenCifar10File& file, std::ostream* out) { *out << file.what; }
};

class BrokenCifar10 : public ::testing::TestWithParam<BrokenCifar10File> {};

TEST_P(BrokenCifar10, GivesOneLine) {
  const TempDir dir;
  for (const int batch : {1, 2, 4, 5}) {
    dir.Write(absl::StrCat("data_batch_", batch, ".bin"), Cifar10Record(1, 2));
  }
  dir.Write("test_batch.bin", Cifar10Record(3, 4));
  dir.Write("data_batch_3.bin", GetParam().content);
  const auto dataset = LoadDataset(Config(dir, DataConfig::Format::kCifar10), {3, 32, 32}, 1);
  ASSERT_FALSE(dataset.ok());
  EXPECT_EQ(dataset.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(MessageOf(dataset.status(), dir),
            absl::StrCat("DIR/data_batch_3.bin: ", GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Files, BrokenCifar10,
    ::testing::ValuesIn(std::vector<BrokenCifar10File>{
        {"Empty", "", "byte 0: record 0: found 0 bytes, expected 3073 (the file is empty)"},
        {"EndsInTheFirstRecord", Cifar10Record(1, 1).substr(1),
         "byte 0: record 0: found 3072 bytes, expected 3073 (the file is truncated)"},
        {"EndsInTheThirdRecord", Cifar10Record(1, 1) + Cifar10Record(2, 2) + "x",
         "byte 6146: record 2: found 1 bytes, expected 3073 (the file is truncated)"},
        {"LabelTooLarge", Cifar10Record(1, 1) + Cifar10Record(4, 4),
         "byte 3073: label: found 4, allowed 0 to 3"},
        {"IsAnIdxFile", Words({0x803, 4, 32, 32}) + Counting(4096),
         "byte 3073: record 1: found 1039 bytes, expected 3073 (the file is truncated)"},
        {"CompressedAndTruncated", Gzip(Cifar10Record(1, 1)).substr(0, 12),
         "byte 12 of the gzip file: found the end of the file, expected more compressed data"},
        {"CompressedContentTruncated", Gzip(Cifar10Record(1, 1) + "abc"),
         "byte 3073 of the decompressed content: record 1: found 3 bytes, expected 3073 (the file "
         "is truncated)"},
    }),
    [](const auto& test) { return test.param.what; });

TEST(BrokenCifar10Set, AMissingFileNamesWhatWasTried) {
  const TempDir dir;
  dir.Write("data_batch_1.bin", Cifar10Record(1, 2));
  const auto dataset = LoadDataset(Config(dir, DataConfig::Format::kCifar10), {3, 32, 32}, 1);
  EXPECT_EQ(dataset.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(MessageOf(dataset.status(), dir),
            "data.train_images: found no file, expected one of DIR/data_batch_2.bin, "
            "DIR/data_batch_2.bin.gz");
}

TEST(BrokenCifar10Set, TheModelMustTakeItsImages) {
  const TempDir dir;
  EXPECT_EQ(
      LoadDataset(Config(dir, DataConfig::Format::kCifar10), kShape, 1).status().message(),
      "data.format: found CIFAR10, whose images are [3, 32, 32], but the model's input is [1, 2, "
      "3]");
}

TEST(BrokenCifar10Set, HasNoFilesOfLabels) {
  const TempDir dir;
  DataConfig config = Config(dir, DataConfig::Format::kCifar10);
  config.train_labels = {"labels"};
  EXPECT_EQ(LoadDataset(config, {3, 32, 32}, 1).status().message(),
            "data.train_labels: found 1 names, expected none (CIFAR-10 has its labels beside the "
            "images)");
}

TEST(BrokenAutoSet, AMissingSetNamesWhatWasTried) {
  const TempDir dir;
  const auto dataset = LoadDataset(Config(dir, DataConfig::Format::kAuto), kShape, 1);
  EXPECT_EQ(dataset.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(
      MessageOf(dataset.status(), dir),
      absl::StrCat("data.train_images: found no file, expected one of DIR/", kTrainImages, ", DIR/",
                   kTrainImages, ".gz, DIR/data_batch_1.bin, DIR/data_batch_1.bin.gz"));
}

TEST(BrokenSyntheticSet, TheNumberOfImagesIsChecked) {
  const TempDir dir;
  for (const int64_t samples : {int64_t{-1}, int64_t{0}, int64_t{1} << 62, INT64_MAX}) {
    DataConfig config = Config(dir, DataConfig::Format::kSynthetic);
    config.synthetic_test_samples = samples;
    const auto dataset = LoadDataset(config, kShape, 1);
    ASSERT_FALSE(dataset.ok());
    const std::string message(dataset.status().message());
    EXPECT_EQ(message.find(absl::StrCat("data.synthetic_test_samples: number of images: found ",
                                        samples, ", allowed 1 to ")),
              0)
        << message;
  }
}

}  // namespace
}  // namespace tributary
