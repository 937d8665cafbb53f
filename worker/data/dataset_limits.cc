#include "worker/data/dataset_limits.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "worker/data/dataset.h"

namespace tributary {
namespace {

int64_t MachineBytes() {
  static const int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
  return bytes > 0 ? bytes : kMaxPixelBytes;
}

}  // namespace

std::string DescribeShape(const Shape& shape) {
  return absl::StrCat("[", shape.channels, ", ", shape.height, ", ", shape.width, "]");
}

absl::Status CheckSampleCount(absl::string_view place, int64_t found, int64_t loaded,
                              const Shape& shape) {
  const int64_t most_bytes = std::min(kMaxPixelBytes, MachineBytes());
  const int64_t most = std::min(kMaxSamples, most_bytes / shape.elements()) - loaded;
  if (found >= 1 && found <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(place, ": number of images: found ", found, ", allowed 1 to ", most, " of ",
                   DescribeShape(shape), loaded > 0 ? " in this further file" : ""));
}

absl::Status CheckLabel(const ByteStream& file, int64_t position, uint8_t label, int64_t classes) {
  if (label < classes) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file.Place(position), ": label: found ", label, ", allowed 0 to ", classes - 1));
}

}  // namespace tributary
