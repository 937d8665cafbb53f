#include "cli/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/formats/atomic_file.h"

namespace tributary {
namespace {

namespace fs = std::filesystem;

absl::Status Refuse(absl::string_view option, const std::string& path, absl::string_view found) {
  return absl::InvalidArgumentError(absl::StrCat(option, ": ", path, ": found ", found,
                                                 ", allowed a file in a folder that is there and "
                                                 "can be written"));
}

}  // namespace

absl::Status CheckOutputFile(absl::string_view option, const std::string& path) {
  if (path.empty()) return absl::OkStatus();
  std::error_code error;
  const fs::file_status file = fs::status(path, error);
  if (fs::is_directory(file)) return Refuse(option, path, "a folder");
  if (fs::exists(file) && !fs::is_regular_file(file)) {
    return Refuse(option, path, "something that is not a regular file");
  }
  const fs::path parent = fs::path(path).parent_path();
  const std::string folder = parent.empty() ? "." : parent.string();
  if (fs::path(path).filename().empty()) return Refuse(option, path, "no file name");
  if (!fs::is_directory(folder, error)) {
    return Refuse(option, path, absl::StrCat("no folder ", folder));
  }
  // The one test that tells of every reason; what it made goes away at once.
  const absl::Status created = AtomicFile::Create(path).status();
  if (created.ok()) return absl::OkStatus();
  return Refuse(option, path, absl::StrCat("\"", created.message(), "\""));
}

absl::Status WriteFile(const std::string& path, absl::string_view text) {
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file.Append(text));
  return file.Commit();
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file) return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be read"));
  return text;
}

absl::StatusOr<TemporaryFolder> TemporaryFolder::Create() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) {
    return absl::FailedPreconditionError(
        absl::StrCat("no folder for temporary files (TMPDIR): ", error.message()));
  }
  std::string path = parent / "tributary-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be created"));
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(std::string path) : path_(std::move(path)) {}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, "")), is_kept_(other.is_kept_) {}

TemporaryFolder::~TemporaryFolder() {
  if (path_.empty() || is_kept_) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace tributary
