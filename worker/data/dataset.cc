#include "worker/data/dataset.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/fingerprint.h"
#include "common/base/status_macros.h"
#include "worker/data/cifar10.h"
#include "worker/data/data_file.h"
#include "worker/data/dataset_limits.h"
#include "worker/data/idx.h"
#include "worker/data/synthetic.h"

namespace tributary {
namespace {

using Format = DataConfig::Format;
using Names = std::vector<std::string>;

// One of the two sets: what the job file says of it, and what holds where it says nothing.
struct Part {
  std::string images_field;
  std::string labels_field;
  const Names& images;
  const Names& labels;
  Names idx_images;
  Names idx_labels;
  Names cifar10;
  SyntheticPart synthetic;
  std::string synthetic_field;
  int64_t synthetic_samples;
};

Part TrainPart(const DataConfig& config) {
  return {"data.train_images",
          "data.train_labels",
          config.train_images,
          config.train_labels,
          {"train-images-idx3-ubyte"},
          {"train-labels-idx1-ubyte"},
          {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
           "data_batch_5.bin"},
          SyntheticPart::kTrain,
          "data.synthetic_train_samples",
          config.synthetic_train_samples};
}

Part TestPart(const DataConfig& config) {
  return {"data.test_images",           "data.test_labels",         config.test_images,
          config.test_labels,           {"t10k-images-idx3-ubyte"}, {"t10k-labels-idx1-ubyte"},
          {"test_batch.bin"},           SyntheticPart::kTest,       "data.synthetic_test_samples",
          config.synthetic_test_samples};
}

const Names& OrDefault(const Names& names, const Names& defaults) {
  return names.empty() ? defaults : names;
}

// IDX unless the model takes CIFAR-10's images and the first file does not start as IDX.
absl::StatusOr<Format> DetectFormat(const DataConfig& config, const Part& part,
                                    const Shape& input) {
  if (config.format != Format::kAuto) return config.format;
  const Names candidates =
      part.images.empty() ? Names{part.idx_images[0], part.cifar10[0]} : Names{part.images[0]};
  ASSIGN_OR_RETURN(const std::unique_ptr<ByteStream> first,
                   OpenDataFile(part.images_field, config.dir, candidates));
  ASSIGN_OR_RETURN(const absl::Span<const uint8_t> start, first->Peek(4));
  return input == kCifar10Shape && !StartsAsIdx(start) ? Format::kCifar10 : Format::kIdx;
}

absl::StatusOr<LabelledImages> LoadIdx(const DataConfig& config, const Part& part,
                                       const Shape& input) {
  const Names& images_names = OrDefault(part.images, part.idx_images);
  const Names& labels_names = OrDefault(part.labels, part.idx_labels);
  if (images_names.size() != labels_names.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(part.labels_field, ": found ", labels_names.size(), " names, expected ",
                     images_names.size(), " (one for each of ", part.images_field, ")"));
  }
  LabelledImages set{input, {}, {}};
  for (size_t i = 0; i < images_names.size(); ++i) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ByteStream> images,
                     OpenDataFile(part.images_field, config.dir, {images_names[i]}));
    ASSIGN_OR_RETURN(const std::unique_ptr<ByteStream> labels,
                     OpenDataFile(part.labels_field, config.dir, {labels_names[i]}));
    RETURN_IF_ERROR(ReadIdxImages(*images, input, set.pixels));
    const int64_t found = static_cast<int64_t>(set.pixels.size()) / input.elements() -
                          static_cast<int64_t>(set.labels.size());
    RETURN_IF_ERROR(ReadIdxLabels(*labels, found, images->name(), config.classes, set.labels));
  }
  return set;
}

absl::StatusOr<LabelledImages> LoadCifar10(const DataConfig& config, const Part& part,
                                           const Shape& input) {
  if (input != kCifar10Shape) {
    return absl::InvalidArgumentError(
        absl::StrCat("data.format: found CIFAR10, whose images are ", DescribeShape(kCifar10Shape),
                     ", but the model's input is ", DescribeShape(input)));
  }
  if (!part.labels.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(part.labels_field, ": found ",
                                                   part.labels.size(),
                                                   " names, expected none (CIFAR-10 has its "
                                                   "labels beside the images)"));
  }
  LabelledImages set{input, {}, {}};
  for (const std::string& name : OrDefault(part.images, part.cifar10)) {
    ASSIGN_OR_RETURN(const std::unique_ptr<ByteStream> file,
                     OpenDataFile(part.images_field, config.dir, {name}));
    RETURN_IF_ERROR(ReadCifar10(*file, config.classes, kMaxCifar10Records, set.pixels, set.labels));
  }
  return set;
}

absl::StatusOr<LabelledImages> LoadSynthetic(const DataConfig& config, const Part& part,
                                             const Shape& input, uint64_t seed) {
  RETURN_IF_ERROR(CheckSampleCount(part.synthetic_field, part.synthetic_samples, 0, input));
  return MakeSyntheticImages(part.synthetic, part.synthetic_samples, config.classes, input, seed);
}

absl::StatusOr<LabelledImages> Load(const DataConfig& config, Format format, const Part& part,
                                    const Shape& input, uint64_t seed) {
  if (format == Format::kSynthetic) return LoadSynthetic(config, part, input, seed);
  if (format == Format::kCifar10) return LoadCifar10(config, part, input);
  return LoadIdx(config, part, input);
}

}  // namespace

absl::StatusOr<Dataset> LoadDataset(const DataConfig& config, const Shape& input, uint64_t seed) {
  const Part train = TrainPart(config);
  ASSIGN_OR_RETURN(const Format format, DetectFormat(config, train, input));
  Dataset dataset;
  ASSIGN_OR_RETURN(dataset.train, Load(config, format, train, input, seed));
  ASSIGN_OR_RETURN(dataset.test, Load(config, format, TestPart(config), input, seed));
  Fingerprint fingerprint;
  for (const LabelledImages* set : {&dataset.train, &dataset.test}) {
    for (const std::vector<uint8_t>* bytes : {&set->labels, &set->pixels}) {
      fingerprint.Add({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    }
  }
  dataset.fingerprint = fingerprint.value();
  return dataset;
}

absl::StatusOr<Dataset> LoadTestSet(const DataConfig& config, const Shape& input, uint64_t seed) {
  const Part test = TestPart(config);
  ASSIGN_OR_RETURN(const Format format, DetectFormat(config, test, input));
  Dataset dataset;
  dataset.train.shape = input;
  ASSIGN_OR_RETURN(dataset.test, Load(config, format, test, input, seed));
  return dataset;
}

}  // namespace tributary
