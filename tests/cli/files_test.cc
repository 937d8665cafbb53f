#include "cli/files.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"

namespace tributary {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(CheckOutputFile, AllowsNewAndRegularFiles) {
  const TempDir folder;
  EXPECT_TRUE(CheckOutputFile("--json", "").ok()) << "no file is asked for";
  EXPECT_TRUE(CheckOutputFile("--json", "here.json").ok());
  EXPECT_TRUE(CheckOutputFile("--json", folder.File("new.json")).ok());
  EXPECT_TRUE(CheckOutputFile("--json", folder.Write("old.json", "{}")).ok());
  EXPECT_FALSE(std::filesystem::exists(folder.File("new.json"))) << "it only looks";
}

TEST(CheckOutputFile, RefusesWhatCannotBecomeAFile) {
  const TempDir folder;
  folder.Write("file", "");
  ::mkfifo(folder.File("pipe").c_str(), 0600);
  const struct {
    std::string path;
    std::string piece;
  } kCases[] = {
      {folder.path(), "found a folder"},
      {folder.File("new/"), "found no file name"},
      {folder.File("missing/out.json"), "found no folder " + folder.File("missing")},
      {folder.File("file/out.json"), "found no folder " + folder.File("file")},
      {folder.File("pipe"), "found something that is not a regular file"},
      {"/dev/null", "found something that is not a regular file"},
      {"/proc/out.json", "found \"/proc/out.json: cannot be created"},
  };
  for (const auto& [path, piece] : kCases) {
    const absl::Status status = CheckOutputFile("--json", path);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
    EXPECT_THAT(std::string(status.message()), StartsWith("--json: " + path + ": found ")) << path;
    EXPECT_THAT(std::string(status.message()), HasSubstr(piece)) << path;
  }
}

TEST(Files, AreWrittenAndRead) {
  const TempDir folder;
  const std::string path = folder.File("text");
  ASSERT_TRUE(WriteFile(path, "one\n").ok());
  ASSERT_TRUE(WriteFile(path, "two\n").ok());
  const absl::StatusOr<std::string> text = ReadFile(path);
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "two\n");
  const absl::StatusOr<std::string> empty = ReadFile(folder.Write("empty", ""));
  ASSERT_TRUE(empty.ok()) << empty.status();
  EXPECT_EQ(*empty, "");
}

TEST(Files, AMissingFileIsAnErrorThatNamesIt) {
  const absl::StatusOr<std::string> text = ReadFile("/nowhere/file");
  ASSERT_FALSE(text.ok());
  EXPECT_THAT(std::string(text.status().message()),
              HasSubstr("/nowhere/file: cannot be read: No such file"));
}

TEST(TemporaryFolder, GoesAwayWithAllThatIsInIt) {
  std::string path;
  {
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create();
    ASSERT_TRUE(folder.ok()) << folder.status();
    path = folder->path();
    std::filesystem::create_directory(path + "/inner");
    ASSERT_TRUE(WriteFile(path + "/inner/file", "text").ok());
    const TemporaryFolder moved = *std::move(folder);
    EXPECT_TRUE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(TemporaryFolder, StaysIfItIsKept) {
  std::string path;
  {
    absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create();
    ASSERT_TRUE(folder.ok()) << folder.status();
    folder->Keep();
    path = folder->path();
  }
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove_all(path);
}

}  // namespace
}  // namespace tributary
