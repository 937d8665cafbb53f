#include "worker/data/data_file.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "worker/data/gzip_stream.h"

namespace tributary {

absl::StatusOr<std::unique_ptr<ByteStream>> OpenDataFile(absl::string_view field,
                                                         const std::string& dir,
                                                         absl::Span<const std::string> names) {
  std::vector<std::string> tried;
  for (const std::string& name : names) {
    for (const char* ending : {"", ".gz"}) {
      const std::string path = (std::filesystem::path(dir) / (name + ending)).string();
      absl::StatusOr<std::unique_ptr<ByteStream>> file = FileStream::Open(path);
      if (file.ok()) return DecompressIfGzip(*std::move(file));
      if (!absl::IsNotFound(file.status())) {
        return absl::Status(file.status().code(),
                            absl::StrCat(field, ": ", file.status().message()));
      }
      tried.push_back(path);
    }
  }
  return absl::NotFoundError(
      absl::StrCat(field, ": found no file, expected one of ", absl::StrJoin(tried, ", ")));
}

}  // namespace tributary
