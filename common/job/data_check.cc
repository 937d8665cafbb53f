#include "common/job/data_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/job/field_text.h"
#include "common/job/job_check.h"

namespace tributary {
namespace {

using Names = google::protobuf::RepeatedPtrField<std::string>;
using Format = DataConfig::Format;

constexpr Shape kCifar10Shape{3, 32, 32};
// A pixel is in [0, 1] before it is normalised; outside these bounds nothing of it is left in fp32.
constexpr double kMaxMean = 1e6;
constexpr double kMinStddev = 1e-6;
constexpr double kMaxStddev = 1e6;

std::string Describe(const Shape& shape) {
  return absl::StrCat(shape.channels, "x", shape.height, "x", shape.width);
}

absl::StatusOr<Format> ReadFormat(v1::DataSpec::Format found, const Checks& checks) {
  switch (found) {
    case v1::DataSpec::AUTO:
      return Format::kAuto;
    case v1::DataSpec::IDX:
      return Format::kIdx;
    case v1::DataSpec::CIFAR10:
      return Format::kCifar10;
    case v1::DataSpec::SYNTHETIC:
      return Format::kSynthetic;
    default:
      return checks.Refuse("data.format", static_cast<int>(found),
                           "one of AUTO, IDX, CIFAR10, SYNTHETIC");
  }
}

absl::StatusOr<std::vector<std::string>> ReadNames(const std::string& field, const Names& names,
                                                   const Checks& checks) {
  RETURN_IF_ERROR(checks.Require(names.size() <= kMaxDataFiles, field,
                                 absl::StrCat(names.size(), " names"),
                                 absl::StrCat("at most ", kMaxDataFiles)));
  for (const std::string& name : names) {
    RETURN_IF_ERROR(checks.Require(!name.empty(), field, Quoted(name), "a file's name"));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

// Images and labels of IDX are in files of their own, one of each where none is named; CIFAR-10 has
// no files of labels. AUTO becomes one of the two when the files are opened.
absl::Status CheckLabelFiles(const std::string& set, const Names& images, const Names& labels,
                             Format format, const Checks& checks) {
  const std::string field = absl::StrCat("data.", set, "_labels");
  if (format == Format::kCifar10) {
    return checks.Require(labels.empty(), field, absl::StrCat(labels.size(), " names"),
                          "none with format CIFAR10");
  }
  const bool may_be_cifar10 = format == Format::kAuto && labels.empty();
  if (format == Format::kSynthetic || may_be_cifar10) return absl::OkStatus();
  const int image_files = std::max(images.size(), 1);
  const int label_files = std::max(labels.size(), 1);
  return checks.Require(image_files == label_files, field, absl::StrCat(label_files, " names"),
                        absl::StrCat(image_files, ", one for each of data.", set, "_images"));
}

absl::Status ReadFiles(const v1::DataSpec& spec, const Checks& checks, DataConfig& data) {
  ASSIGN_OR_RETURN(data.train_images, ReadNames("data.train_images", spec.train_images(), checks));
  ASSIGN_OR_RETURN(data.train_labels, ReadNames("data.train_labels", spec.train_labels(), checks));
  ASSIGN_OR_RETURN(data.test_images, ReadNames("data.test_images", spec.test_images(), checks));
  ASSIGN_OR_RETURN(data.test_labels, ReadNames("data.test_labels", spec.test_labels(), checks));
  RETURN_IF_ERROR(
      CheckLabelFiles("train", spec.train_images(), spec.train_labels(), data.format, checks));
  RETURN_IF_ERROR(
      CheckLabelFiles("test", spec.test_images(), spec.test_labels(), data.format, checks));
  // Names of files are no mistake with SYNTHETIC: so a cluster is tried out with the job it is for.
  data.dir = spec.dir();
  return checks.Require(!data.dir.empty() || data.format == Format::kSynthetic, "data.dir", "none",
                        "the folder of the data files (or data.format SYNTHETIC)");
}

absl::StatusOr<int64_t> ReadSynthetic(const std::string& field, uint64_t found, int64_t fallback,
                                      Format format, const Checks& checks) {
  RETURN_IF_ERROR(checks.Require(found == 0 || format == Format::kSynthetic, field, found,
                                 "with data.format SYNTHETIC alone"));
  return checks.BetweenOrDefault(field, found, fallback, 1, kMaxSyntheticSamples);
}

// One number for every channel, from none (the default), one or `channels`.
absl::StatusOr<std::vector<double>> ReadPerChannel(
    const std::string& field, const google::protobuf::RepeatedField<double>& found, double fallback,
    double least, double most, int64_t channels, const Checks& checks) {
  RETURN_IF_ERROR(checks.Require(
      found.size() <= 1 || found.size() == channels, field, absl::StrCat(found.size(), " numbers"),
      channels == 1 ? "1 (the model's channels)"
                    : absl::StrCat("1 or ", channels, " (the model's channels)")));
  for (const double number : found) {
    RETURN_IF_ERROR(checks.Require(number >= least && number <= most, field, number,
                                   absl::StrCat(least, " to ", most)));
  }
  if (found.size() > 1) return std::vector<double>(found.begin(), found.end());
  return std::vector<double>(static_cast<size_t>(channels), found.empty() ? fallback : found[0]);
}

}  // namespace

absl::StatusOr<DataConfig> CheckData(const v1::DataSpec& spec, const ModelPlan& model,
                                     const Checks& checks) {
  DataConfig data;
  ASSIGN_OR_RETURN(data.format, ReadFormat(spec.format(), checks));
  RETURN_IF_ERROR(ReadFiles(spec, checks, data));
  const Shape& input = model.model.input;
  if (data.format == Format::kCifar10) {
    RETURN_IF_ERROR(
        checks.Require(input == kCifar10Shape, "model.input", Describe(input),
                       absl::StrCat(Describe(kCifar10Shape), " (data.format CIFAR10)")));
  }
  data.classes = spec.classes();
  RETURN_IF_ERROR(checks.Require(model.classes <= kMaxClasses, "model",
                                 absl::StrCat(model.classes, " classes"),
                                 absl::StrCat("2 to ", kMaxClasses)));
  RETURN_IF_ERROR(
      checks.Require(data.classes == model.classes, "data.classes", data.classes,
                     absl::StrCat(model.classes, " (the width of the model's last layer)")));
  ASSIGN_OR_RETURN(data.mean, ReadPerChannel("data.mean", spec.mean(), 0, -kMaxMean, kMaxMean,
                                             input.channels, checks));
  ASSIGN_OR_RETURN(data.stddev, ReadPerChannel("data.stddev", spec.stddev(), 1, kMinStddev,
                                               kMaxStddev, input.channels, checks));
  ASSIGN_OR_RETURN(data.synthetic_train_samples,
                   ReadSynthetic("data.synthetic_train_samples", spec.synthetic_train_samples(),
                                 data.synthetic_train_samples, data.format, checks));
  ASSIGN_OR_RETURN(data.synthetic_test_samples,
                   ReadSynthetic("data.synthetic_test_samples", spec.synthetic_test_samples(),
                                 data.synthetic_test_samples, data.format, checks));
  return data;
}

}  // namespace tributary
