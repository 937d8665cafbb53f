// A file that appears at its path whole or not at all: written to a temporary file beside it, then
// renamed over it.
//
//   ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
//   RETURN_IF_ERROR(file.Append(bytes));
//   RETURN_IF_ERROR(file.Commit());
#ifndef TRIBUTARY_COMMON_FORMATS_ATOMIC_FILE_H_
#define TRIBUTARY_COMMON_FORMATS_ATOMIC_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tributary {

// Not thread-safe. Errors of every function: the path and the system's reason; the temporary file
// is then removed by the destructor and what was at the path stays.
class AtomicFile {
 public:
  static absl::StatusOr<AtomicFile> Create(std::string path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  absl::Status Append(absl::string_view bytes);

  // fsync of the file, rename, fsync of the folder. To be called once, at the end.
  absl::Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary, int descriptor);

  absl::Status Error(int error, absl::string_view action) const;

  std::string path_;
  std::string temporary_;  // empty once renamed
  int descriptor_;         // -1 once closed
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_FORMATS_ATOMIC_FILE_H_
