#include "worker/data/cifar10.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/data/dataset_limits.h"

namespace tributary {
namespace {

constexpr int64_t kPixelBytes = kCifar10Shape.channels * kCifar10Shape.height * kCifar10Shape.width;
constexpr int64_t kRecordBytes = 1 + kPixelBytes;

}  // namespace

absl::Status ReadCifar10(ByteStream& file, int64_t classes, int64_t max_records,
                         std::vector<uint8_t>& pixels, std::vector<uint8_t>& labels) {
  const auto loaded = static_cast<int64_t>(labels.size());
  std::array<uint8_t, kRecordBytes> record{};
  for (int64_t records = 0;; ++records) {
    ASSIGN_OR_RETURN(const absl::Span<const uint8_t> next, file.Peek(1));
    if (next.empty() && records > 0) return absl::OkStatus();
    if (records == max_records) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.Place(), ": number of images: found more than ", records,
                       ", allowed 1 to ", max_records, " in a file"));
    }
    const int64_t position = file.position();
    RETURN_IF_ERROR(ReadExactly(file, absl::StrCat("record ", records), absl::MakeSpan(record)));
    RETURN_IF_ERROR(CheckSampleCount(file.Place(position), 1, loaded + records, kCifar10Shape));
    RETURN_IF_ERROR(CheckLabel(file, position, record[0], classes));
    labels.push_back(record[0]);
    pixels.insert(pixels.end(), record.begin() + 1, record.end());
  }
}

}  // namespace tributary
