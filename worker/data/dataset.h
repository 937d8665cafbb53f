// A data set in memory: labelled images of one shape, one byte per pixel and channel, and how they
// become the network's input.
#ifndef TRIBUTARY_WORKER_DATA_DATASET_H_
#define TRIBUTARY_WORKER_DATA_DATASET_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/job/job.h"
#include "common/model/model.h"

namespace tributary {

// `pixels` is [samples, C, H, W], `labels` is [samples], each below the number of classes.
struct LabelledImages {
  Shape shape;
  std::vector<uint8_t> pixels;
  std::vector<uint8_t> labels;

  int64_t samples() const { return static_cast<int64_t>(labels.size()); }
  absl::Span<const uint8_t> image(int64_t sample) const {
    return absl::MakeConstSpan(pixels).subspan(static_cast<size_t>(sample * shape.elements()),
                                               static_cast<size_t>(shape.elements()));
  }
};

struct Dataset {
  LabelledImages train;
  LabelledImages test;
  // FNV-1a (64 bit) over the labels and the pixels of train, then of test: workers whose data
  // differ are told apart.
  uint64_t fingerprint = 0;
};

// The most samples, classes and bytes of pixels that a set may have: above any set of images that
// fits a worker's memory, below where a size could overflow.
inline constexpr int64_t kMaxSamples = int64_t{1} << 31;
inline constexpr int64_t kMaxPixelBytes = int64_t{1} << 40;

// Loads both sets. `config` is checked; `input` and `config.classes` are the model's. `seed` makes
// SYNTHETIC images. Nothing in the files is trusted: magic numbers, counts, sizes, truncation and
// label range are checked before memory is taken. Errors: NOT_FOUND for a missing file (with the
// names that were tried), INVALID_ARGUMENT with file, byte position, found and allowed.
absl::StatusOr<Dataset> LoadDataset(const DataConfig& config, const Shape& input, uint64_t seed);

// The test set alone (the train set is left empty and unread; the fingerprint is zero).
absl::StatusOr<Dataset> LoadTestSet(const DataConfig& config, const Shape& input, uint64_t seed);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_DATASET_H_
