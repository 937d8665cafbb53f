#include "common/formats/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/status_macros.h"
#include "common/formats/atomic_file.h"
#include "common/formats/safetensors_header.h"

namespace tributary {
namespace {

static_assert(std::endian::native == std::endian::little, "the arrays are copied as they are");

// Whether the array is what its shape says.
absl::Status CheckArray(const NamedArray& array) {
  size_t elements = 1;
  for (const int64_t dimension : array.shape) {
    if (dimension < 0 || (dimension > 0 && elements > std::numeric_limits<int64_t>::max() /
                                                          static_cast<size_t>(dimension))) {
      elements = std::numeric_limits<size_t>::max();
      break;
    }
    elements *= static_cast<size_t>(dimension);
  }
  if (elements == array.values.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "array ", array.name, ": found ", array.values.size(),
      " values, expected as many as its shape has: [", absl::StrJoin(array.shape, ", "), "]"));
}

absl::StatusOr<SafetensorsHeader> HeaderFor(const std::vector<NamedArray>& arrays,
                                            const std::map<std::string, std::string>& metadata) {
  SafetensorsHeader header;
  header.metadata = metadata;
  std::set<std::string> names = {"__metadata__"};
  int64_t position = 0;
  for (const NamedArray& array : arrays) {
    RETURN_IF_ERROR(CheckArray(array));
    if (!names.insert(array.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("array ", array.name, ": the name is taken, expected another"));
    }
    const auto bytes = static_cast<int64_t>(array.values.size() * sizeof(float));
    header.entries.push_back({array.name, array.shape, position, position + bytes});
    position += bytes;
  }
  return header;
}

// A file that is open for reading.
class InputFile {
 public:
  static absl::StatusOr<InputFile> Open(const std::string& path) {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be opened"));
    InputFile file(path, descriptor);
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      return absl::DataLossError(absl::StrCat(path, ": found no plain file, allowed a file"));
    }
    file.bytes_ = static_cast<uint64_t>(status.st_size);
    return file;
  }

  InputFile(InputFile&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        bytes_(other.bytes_) {}
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  uint64_t bytes() const { return bytes_; }

  // Fills `target` from `position`.
  absl::Status Read(uint64_t position, absl::Span<char> target) const {
    while (!target.empty()) {
      const ssize_t count =
          ::pread(descriptor_, target.data(), target.size(), static_cast<off_t>(position));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        return absl::DataLossError(absl::StrCat(path_, ": byte ", position, ": cannot be read (",
                                                count == 0 ? "the end" : std::strerror(errno),
                                                ")"));
      }
      position += static_cast<uint64_t>(count);
      target.remove_prefix(static_cast<size_t>(count));
    }
    return absl::OkStatus();
  }

 private:
  InputFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
  uint64_t bytes_ = 0;
};

// Every array of the header, empty but for its shape and room for its values.
LoadedSafetensors MakeRoom(const SafetensorsHeader& header) {
  LoadedSafetensors loaded;
  loaded.metadata = header.metadata;
  for (const SafetensorsEntry& entry : header.entries) {
    loaded.arrays[entry.name] = {entry.shape,
                                 std::vector<float>(static_cast<size_t>(entry.elements()))};
  }
  return loaded;
}

absl::Span<char> BytesOf(std::vector<float>& values) {
  return {reinterpret_cast<char*>(values.data()), values.size() * sizeof(float)};
}

absl::Status CheckFitsMemory(const std::string& path, uint64_t bytes) {
  const auto memory = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                      static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (bytes <= memory) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(path, ": found ", bytes, " bytes, allowed at most ",
                                          memory, " (the memory of this machine)"));
}

}  // namespace

absl::Status WriteSafetensors(const std::string& path, const std::vector<NamedArray>& arrays,
                              const std::map<std::string, std::string>& metadata) {
  ASSIGN_OR_RETURN(const SafetensorsHeader header, HeaderFor(arrays, metadata));
  const std::string start = FormatSafetensorsHeader(header);
  if (start.size() - kSafetensorsPrefixBytes > kMaxSafetensorsHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": found a header of ", start.size(),
                                                   " bytes, allowed at most ",
                                                   kMaxSafetensorsHeaderBytes));
  }
  ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  RETURN_IF_ERROR(file.Append(start));
  for (const NamedArray& array : arrays) {
    RETURN_IF_ERROR(file.Append(
        {reinterpret_cast<const char*>(array.values.data()), array.values.size() * sizeof(float)}));
  }
  return file.Commit();
}

absl::StatusOr<LoadedSafetensors> ReadSafetensors(const std::string& path) {
  ASSIGN_OR_RETURN(const InputFile file, InputFile::Open(path));
  RETURN_IF_ERROR(CheckFitsMemory(path, file.bytes()));
  std::string text(std::min(file.bytes(), kSafetensorsPrefixBytes), '\0');
  RETURN_IF_ERROR(file.Read(0, absl::MakeSpan(text)));
  ASSIGN_OR_RETURN(const uint64_t length, SafetensorsHeaderBytes(text, file.bytes(), path));
  text.resize(length);
  RETURN_IF_ERROR(file.Read(kSafetensorsPrefixBytes, absl::MakeSpan(text)));
  const uint64_t data = kSafetensorsPrefixBytes + length;
  ASSIGN_OR_RETURN(const SafetensorsHeader header,
                   ParseSafetensorsHeader(text, file.bytes() - data, path));
  LoadedSafetensors loaded = MakeRoom(header);
  for (const SafetensorsEntry& entry : header.entries) {
    RETURN_IF_ERROR(file.Read(data + static_cast<uint64_t>(entry.begin),
                              BytesOf(loaded.arrays[entry.name].values)));
  }
  return loaded;
}

absl::StatusOr<LoadedSafetensors> ParseSafetensors(absl::string_view bytes,
                                                   const std::string& name) {
  ASSIGN_OR_RETURN(
      const uint64_t length,
      SafetensorsHeaderBytes(bytes.substr(0, kSafetensorsPrefixBytes), bytes.size(), name));
  const absl::string_view data = bytes.substr(kSafetensorsPrefixBytes + length);
  ASSIGN_OR_RETURN(
      const SafetensorsHeader header,
      ParseSafetensorsHeader(bytes.substr(kSafetensorsPrefixBytes, length), data.size(), name));
  LoadedSafetensors loaded = MakeRoom(header);
  for (const SafetensorsEntry& entry : header.entries) {
    const absl::Span<char> target = BytesOf(loaded.arrays[entry.name].values);
    std::copy_n(data.begin() + entry.begin, target.size(), target.begin());
  }
  return loaded;
}

}  // namespace tributary
