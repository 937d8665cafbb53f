// The JSON header of a safetensors file, apart from the arrays' bytes.
#ifndef TRIBUTARY_COMMON_FORMATS_SAFETENSORS_HEADER_H_
#define TRIBUTARY_COMMON_FORMATS_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tributary {

// The format's own limit.
inline constexpr uint64_t kMaxSafetensorsHeaderBytes = 100'000'000;
// The file starts with the header's length in this many bytes.
inline constexpr uint64_t kSafetensorsPrefixBytes = 8;

struct SafetensorsEntry {
  std::string name;
  std::vector<int64_t> shape;
  // Bytes, from the end of the header.
  int64_t begin = 0;
  int64_t end = 0;

  int64_t elements() const { return (end - begin) / static_cast<int64_t>(sizeof(float)); }
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  // in the order of their offsets
  std::map<std::string, std::string> metadata;
};

// The length that the first bytes of the file `name` tell; it fits a file of `file_bytes`. `start`
// may be shorter than the prefix, if the file is. Errors: DATA_LOSS.
absl::StatusOr<uint64_t> SafetensorsHeaderBytes(absl::string_view start, uint64_t file_bytes,
                                                const std::string& name);

// Parses the header of the file `name`, which `data_bytes` of arrays follow. Errors: DATA_LOSS, as
// safetensors.h says. On success the entries cover [0, data_bytes) without holes or overlaps.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(absl::string_view json,
                                                         uint64_t data_bytes,
                                                         const std::string& name);

// The opposite: prefix, JSON and padding of a file with these entries.
std::string FormatSafetensorsHeader(const SafetensorsHeader& header);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_FORMATS_SAFETENSORS_HEADER_H_
