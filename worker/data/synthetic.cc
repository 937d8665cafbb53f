#include "worker/data/synthetic.h"

#include <algorithm>
#include <vector>

#include "common/base/philox.h"

namespace tributary {
namespace {

constexpr int kSquare = 4;  // pixels along a square of a prototype
constexpr uint64_t kPrototypes = 0;
constexpr int64_t kBytesPerBlock = 16;

void FillRandomBytes(const RandomStream& stream, absl::Span<uint8_t> out) {
  const auto size = static_cast<int64_t>(out.size());
  for (int64_t i = 0; i < size; i += kBytesPerBlock) {
    const auto block = stream.At(static_cast<uint64_t>(i / kBytesPerBlock));
    const int64_t bytes = std::min(kBytesPerBlock, size - i);
    for (int64_t k = 0; k < bytes; ++k) {
      out[static_cast<size_t>(i + k)] = static_cast<uint8_t>(block[k / 4] >> (k % 4 * 8));
    }
  }
}

RandomStream StreamOf(uint64_t seed, uint64_t part, int64_t index) {
  return {seed, RandomUse::kSyntheticData, part << 40 | static_cast<uint64_t>(index)};
}

std::vector<uint8_t> MakePrototype(uint64_t seed, int64_t label, const Shape& shape) {
  const int64_t rows = (shape.height + kSquare - 1) / kSquare;
  const int64_t columns = (shape.width + kSquare - 1) / kSquare;
  std::vector<uint8_t> squares(static_cast<size_t>(shape.channels * rows * columns));
  FillRandomBytes(StreamOf(seed, kPrototypes, label), absl::MakeSpan(squares));

  std::vector<uint8_t> prototype;
  prototype.reserve(static_cast<size_t>(shape.elements()));
  for (int64_t channel = 0; channel < shape.channels; ++channel) {
    for (int64_t y = 0; y < shape.height; ++y) {
      const int64_t row = (channel * rows + y / kSquare) * columns;
      for (int64_t x = 0; x < shape.width; ++x) {
        prototype.push_back(squares[static_cast<size_t>(row + x / kSquare)]);
      }
    }
  }
  return prototype;
}

}  // namespace

LabelledImages MakeSyntheticImages(SyntheticPart part, int64_t samples, int64_t classes,
                                   const Shape& shape, uint64_t seed) {
  const int64_t labels = std::min<int64_t>(classes, 256);
  std::vector<std::vector<uint8_t>> prototypes;
  for (int64_t label = 0; label < std::min(labels, samples); ++label) {
    prototypes.push_back(MakePrototype(seed, label, shape));
  }
  const auto elements = static_cast<size_t>(shape.elements());
  LabelledImages images{shape, std::vector<uint8_t>(static_cast<size_t>(samples) * elements), {}};
  images.labels.reserve(static_cast<size_t>(samples));
  for (int64_t sample = 0; sample < samples; ++sample) {
    const int64_t label = sample % labels;
    const std::vector<uint8_t>& prototype = prototypes[static_cast<size_t>(label)];
    const absl::Span<uint8_t> image =
        absl::MakeSpan(images.pixels).subspan(static_cast<size_t>(sample) * elements, elements);
    FillRandomBytes(StreamOf(seed, static_cast<uint64_t>(part), sample), image);
    for (size_t i = 0; i < elements; ++i) {
      image[i] = static_cast<uint8_t>((image[i] + prototype[i]) / 2);
    }
    images.labels.push_back(static_cast<uint8_t>(label));
  }
  return images;
}

}  // namespace tributary
