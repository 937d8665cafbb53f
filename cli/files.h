// The files that commands write and read besides models and data.
#ifndef TRIBUTARY_CLI_FILES_H_
#define TRIBUTARY_CLI_FILES_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tributary {

// Whether a file can be written at `path` later: its folder is there and writable, and what is at
// the path already, if anything, is a regular file (writing replaces it, which would end a device
// or a pipe). An empty path is no file and is fine. Errors: INVALID_ARGUMENT in one line that
// starts with `option`.
absl::Status CheckOutputFile(absl::string_view option, const std::string& path);

// Replaces or creates the file, whole or not at all.
absl::Status WriteFile(const std::string& path, absl::string_view text);

// The whole content. Errors: the path and the system's reason.
absl::StatusOr<std::string> ReadFile(const std::string& path);

// A new folder under the system's folder for temporary files, removed with all that is in it by the
// destructor, unless kept.
class TemporaryFolder {
 public:
  static absl::StatusOr<TemporaryFolder> Create();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }
  void Keep() { is_kept_ = true; }

 private:
  explicit TemporaryFolder(std::string path);

  std::string path_;
  bool is_kept_ = false;
};

}  // namespace tributary

#endif  // TRIBUTARY_CLI_FILES_H_
