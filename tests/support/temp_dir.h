// A folder of a test's own, removed with everything in it at the end.
#ifndef TRIBUTARY_TESTS_SUPPORT_TEMP_DIR_H_
#define TRIBUTARY_TESTS_SUPPORT_TEMP_DIR_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace tributary {

class TempDir {
 public:
  TempDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tributary_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "no temporary folder: " << pattern;
    path_ = pattern;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  // The path of `name` in the folder.
  std::string File(std::string_view name) const {
    return (std::filesystem::path(path_) / name).string();
  }
  // Writes a file and returns its path.
  std::string Write(std::string_view name, std::string_view content) const {
    std::ofstream file(File(name), std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    EXPECT_TRUE(file.good()) << File(name);
    return File(name);
  }

 private:
  std::string path_;
};

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_SUPPORT_TEMP_DIR_H_
