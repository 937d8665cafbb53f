#include "common/job/source_map.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tributary {
namespace {

// "a.b[3]" to "a.b" to "a" to "".
absl::string_view Parent(absl::string_view path) {
  const size_t end = path.find_last_of(".[");
  return end == absl::string_view::npos ? absl::string_view() : path.substr(0, end);
}

}  // namespace

void SourceMap::AddFile(std::string file, std::string root, FieldLines lines) {
  files_.push_back({std::move(file), std::move(root), std::move(lines)});
}

void SourceMap::AddOverride(std::string path) {
  overrides_.insert(std::move(path));
}

bool SourceMap::IsWritten(absl::string_view path) const {
  if (overrides_.contains(path)) return true;
  for (const File& file : files_) {
    if (file.lines.contains(path)) return true;
  }
  return false;
}

std::string SourceMap::Place(absl::string_view path) const {
  for (; !path.empty(); path = Parent(path)) {
    if (overrides_.contains(path)) return "--set";
    for (const File& file : files_) {
      const auto line = file.lines.find(path);
      if (line != file.lines.end()) return absl::StrCat(file.name, ":", line->second);
      if (path == file.root) return absl::StrCat(file.name, ":1");
    }
  }
  return files_.empty() ? "" : absl::StrCat(files_.front().name, ":1");
}

}  // namespace tributary
