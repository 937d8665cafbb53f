#include "common/formats/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"

namespace tributary {
namespace {

// Names tried for the temporary file; one is taken only if a process with the same id left it.
constexpr int kMaxTries = 100;

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

}  // namespace

absl::StatusOr<AtomicFile> AtomicFile::Create(std::string path) {
  for (int i = 0; i < kMaxTries; ++i) {
    std::string temporary = absl::StrCat(path, ".tmp-", ::getpid(), "-", i);
    const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return AtomicFile(std::move(path), std::move(temporary), descriptor);
    if (errno != EEXIST) break;
  }
  return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be created"));
}

AtomicFile::AtomicFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, "")),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

absl::Status AtomicFile::Append(absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR) return Error(errno, "written");
    if (count > 0) bytes.remove_prefix(static_cast<size_t>(count));
  }
  return absl::OkStatus();
}

absl::Status AtomicFile::Commit() {
  if (::fsync(descriptor_) != 0) return Error(errno, "written");
  if (::close(std::exchange(descriptor_, -1)) != 0) return Error(errno, "written");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return Error(errno, "replaced");
  temporary_.clear();
  const int folder = ::open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return Error(errno, "made durable");
  const absl::Cleanup close_folder = [folder] { ::close(folder); };
  // Some file systems know no fsync of a folder and say EINVAL.
  if (::fsync(folder) != 0 && errno != EINVAL) return Error(errno, "made durable");
  return absl::OkStatus();
}

absl::Status AtomicFile::Error(int error, absl::string_view action) const {
  return absl::ErrnoToStatus(error, absl::StrCat(path_, ": cannot be ", action));
}

}  // namespace tributary
