// The IDX format of MNIST (http://yann.lecun.com/exdb/mnist, "the IDX file format"):
//
//   byte 0    0, 0, type of the elements (0x08: unsigned byte), number of dimensions
//   byte 4    the dimensions, four bytes each, big endian
//   then      the elements, the last dimension fastest
//
// Images are [N, H, W] for one channel or [N, C, H, W] for any number, labels [N]; elements are
// unsigned bytes. Each function reads one file to its end and appends what it holds. The header is
// checked against the model's input and the bytes that are there before memory is taken. Errors:
// INVALID_ARGUMENT with file, byte, what was found and what is expected.
#ifndef TRIBUTARY_WORKER_DATA_IDX_H_
#define TRIBUTARY_WORKER_DATA_IDX_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/model/model.h"
#include "worker/data/byte_stream.h"

namespace tributary {

// Whether a file that starts with these bytes (four of them, or all there are) is meant as IDX.
bool StartsAsIdx(absl::Span<const uint8_t> start);

// Appends the images of `file`, each of shape `input`, to `pixels`.
absl::Status ReadIdxImages(ByteStream& file, const Shape& input, std::vector<uint8_t>& pixels);

// Appends the labels of `file` to `labels`: as many as `images_file` has images, each below
// `classes`.
absl::Status ReadIdxLabels(ByteStream& file, int64_t images, absl::string_view images_file,
                           int64_t classes, std::vector<uint8_t>& labels);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_IDX_H_
