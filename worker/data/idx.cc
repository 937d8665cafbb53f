#include "worker/data/idx.h"

#include <array>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "worker/data/dataset_limits.h"

namespace tributary {
namespace {

constexpr uint32_t kLabelsMagic = 0x0801;
constexpr uint32_t kGreyImagesMagic = 0x0803;
constexpr uint32_t kImagesMagic = 0x0804;

std::string Hex(uint32_t magic) {
  return absl::StrCat("0x", absl::Hex(magic, absl::kZeroPad8));
}

absl::StatusOr<uint32_t> ReadBigEndian(ByteStream& file, absl::string_view what) {
  std::array<uint8_t, 4> bytes{};
  RETURN_IF_ERROR(ReadExactly(file, what, absl::MakeSpan(bytes)));
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

absl::Status WrongMagic(const ByteStream& file, uint32_t found, absl::string_view expected) {
  return absl::InvalidArgumentError(
      absl::StrCat(file.Place(0), ": magic number: found ", Hex(found), ", expected ", expected));
}

absl::Status ReadImageDimension(ByteStream& file, absl::string_view axis, int64_t expected,
                                const Shape& input) {
  const int64_t position = file.position();
  ASSIGN_OR_RETURN(const int64_t found, ReadBigEndian(file, axis));
  if (found == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(file.Place(position), ": ", axis, ": found ", found, ", expected ", expected,
                   " (the model's input is ", DescribeShape(input), ")"));
}

// Reads the header and returns the number of images, which is at least 1.
absl::StatusOr<int64_t> ReadImagesHeader(ByteStream& file, const Shape& input, int64_t loaded) {
  ASSIGN_OR_RETURN(const uint32_t magic, ReadBigEndian(file, "magic number"));
  const bool is_grey = magic == kGreyImagesMagic && input.channels == 1;
  if (!is_grey && magic != kImagesMagic) {
    return WrongMagic(
        file, magic,
        input.channels == 1
            ? absl::StrCat(Hex(kGreyImagesMagic), " (images, [N, H, W]) or ", Hex(kImagesMagic),
                           " (images, [N, C, H, W])")
            : absl::StrCat(Hex(kImagesMagic), " (images, [N, C, H, W]; the model's input is ",
                           DescribeShape(input), ")"));
  }
  const int64_t position = file.position();
  ASSIGN_OR_RETURN(const int64_t images, ReadBigEndian(file, "number of images"));
  if (!is_grey) RETURN_IF_ERROR(ReadImageDimension(file, "channels", input.channels, input));
  RETURN_IF_ERROR(ReadImageDimension(file, "height", input.height, input));
  RETURN_IF_ERROR(ReadImageDimension(file, "width", input.width, input));
  RETURN_IF_ERROR(CheckSampleCount(file.Place(position), images, loaded, input));
  return images;
}

// Appends exactly the next `bytes` bytes of the file, which must be its last.
absl::Status AppendRest(ByteStream& file, absl::string_view what, int64_t bytes,
                        std::vector<uint8_t>& out) {
  RETURN_IF_ERROR(CheckRemaining(file, what, bytes));
  const size_t before = out.size();
  out.resize(before + static_cast<size_t>(bytes));
  RETURN_IF_ERROR(ReadExactly(file, what, absl::MakeSpan(out).subspan(before)));
  return ExpectEnd(file);
}

}  // namespace

bool StartsAsIdx(absl::Span<const uint8_t> start) {
  // The types run from 0x08 to 0x0E; a set of images has no more than four dimensions.
  return start.size() == 4 && start[0] == 0 && start[1] == 0 && start[2] >= 0x08 &&
         start[2] <= 0x0E && start[3] >= 1 && start[3] <= 4;
}

absl::Status ReadIdxImages(ByteStream& file, const Shape& input, std::vector<uint8_t>& pixels) {
  const int64_t loaded = static_cast<int64_t>(pixels.size()) / input.elements();
  ASSIGN_OR_RETURN(const int64_t images, ReadImagesHeader(file, input, loaded));
  // CheckSampleCount has bounded the product.
  return AppendRest(file, "pixels", images * input.elements(), pixels);
}

absl::Status ReadIdxLabels(ByteStream& file, int64_t images, absl::string_view images_file,
                           int64_t classes, std::vector<uint8_t>& labels) {
  ASSIGN_OR_RETURN(const uint32_t magic, ReadBigEndian(file, "magic number"));
  if (magic != kLabelsMagic) {
    return WrongMagic(file, magic, absl::StrCat(Hex(kLabelsMagic), " (labels, [N])"));
  }
  const int64_t position = file.position();
  ASSIGN_OR_RETURN(const int64_t count, ReadBigEndian(file, "number of labels"));
  if (count != images) {
    return absl::InvalidArgumentError(
        absl::StrCat(file.Place(position), ": number of labels: found ", count, ", expected ",
                     images, " (the images of ", images_file, ")"));
  }
  const int64_t start = file.position();
  const size_t before = labels.size();
  RETURN_IF_ERROR(AppendRest(file, "labels", count, labels));
  for (int64_t i = 0; i < count; ++i) {
    RETURN_IF_ERROR(CheckLabel(file, start + i, labels[before + static_cast<size_t>(i)], classes));
  }
  return absl::OkStatus();
}

}  // namespace tributary
