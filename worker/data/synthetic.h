// Images made from the seed, for trying a cluster out without a data set. They can be learned, by a
// linear model already: each class has a prototype, and an image is its class's prototype under as
// much noise.
//
//   label of image i   i mod classes (of at most 256 classes: a label is a byte)
//   prototype          squares of 4x4 pixels, each of one random byte per channel
//   pixel              (prototype + noise) / 2, noise a random byte per pixel
//
// Whole numbers alone, so the same bytes on every machine. The random bytes are the little-endian
// bytes of Philox blocks 0, 1, ... of the stream (seed, kSyntheticData, part << 40 | k), where
// part 0 is the prototype of class k, part 1 the noise of training image k, part 2 of test image k.
#ifndef TRIBUTARY_WORKER_DATA_SYNTHETIC_H_
#define TRIBUTARY_WORKER_DATA_SYNTHETIC_H_

#include <cstdint>

#include "common/model/model.h"
#include "worker/data/dataset.h"

namespace tributary {

enum class SyntheticPart : uint8_t { kTrain = 1, kTest = 2 };

// `samples` is checked against the limits of dataset.h already; `classes` is positive.
LabelledImages MakeSyntheticImages(SyntheticPart part, int64_t samples, int64_t classes,
                                   const Shape& shape, uint64_t seed);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_SYNTHETIC_H_
