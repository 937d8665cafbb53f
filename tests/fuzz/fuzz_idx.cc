// Any bytes as a file of images or labels in IDX, raw or (if they start so) gzip: an answer or an
// error, and never more memory than the header and the bytes that are there account for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "worker/data/byte_stream.h"
#include "worker/data/gzip_stream.h"
#include "worker/data/idx.h"

namespace tributary {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

std::unique_ptr<ByteStream> Open(absl::Span<const uint8_t> bytes) {
  return DecompressIfGzip(std::make_unique<MemoryStream>("file", bytes)).value();
}

void ReadImages(absl::Span<const uint8_t> bytes, const Shape& shape) {
  const std::unique_ptr<ByteStream> file = Open(bytes);
  const int64_t most = file->most_remaining();
  std::vector<uint8_t> pixels;
  const bool ok = ReadIdxImages(*file, shape, pixels).ok();
  Require(static_cast<int64_t>(pixels.capacity()) <= most);
  if (ok) Require(!pixels.empty() && pixels.size() % shape.elements() == 0);
}

void ReadLabels(absl::Span<const uint8_t> bytes, int64_t images) {
  const std::unique_ptr<ByteStream> file = Open(bytes);
  std::vector<uint8_t> labels;
  const bool ok = ReadIdxLabels(*file, images, "images", 10, labels).ok();
  if (!ok) return;
  Require(static_cast<int64_t>(labels.size()) == images);
  for (const uint8_t label : labels) Require(label < 10);
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::Span<const uint8_t> bytes(data, size);
  tributary::StartsAsIdx(bytes.subspan(0, 4));
  tributary::ReadImages(bytes, {1, 2, 3});
  tributary::ReadImages(bytes, {3, 2, 2});
  tributary::ReadLabels(bytes, 3);
  tributary::ReadLabels(bytes, 40);
  return 0;
}
