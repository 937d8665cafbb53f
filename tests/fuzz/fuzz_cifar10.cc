// Any bytes as a CIFAR-10 file, raw or gzip: an answer or an error. A record is 3073 bytes, which a
// fuzzer would never get together, so the input is stretched: each byte stands for 439 equal ones,
// seven for a record.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "worker/data/byte_stream.h"
#include "worker/data/cifar10.h"
#include "worker/data/gzip_stream.h"

namespace tributary {
namespace {

constexpr size_t kStretch = 439;
constexpr int64_t kMaxRecords = 50;

void Require(bool holds) {
  if (!holds) std::abort();
}

bool Read(absl::Span<const uint8_t> bytes, std::vector<uint8_t>& labels) {
  const auto file = DecompressIfGzip(std::make_unique<MemoryStream>("file", bytes)).value();
  std::vector<uint8_t> pixels;
  const bool ok = ReadCifar10(*file, 10, kMaxRecords, pixels, labels).ok();
  Require(static_cast<int64_t>(labels.size()) <= kMaxRecords);
  Require(pixels.size() == labels.size() * kCifar10Shape.elements());
  for (const uint8_t label : labels) Require(label < 10);
  if (ok) Require(!labels.empty());
  return ok;
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> labels;
  tributary::Read({data, size}, labels);

  std::vector<uint8_t> stretched;
  for (size_t i = 0; i < size && i < 400; ++i) {
    stretched.insert(stretched.end(), tributary::kStretch, data[i]);
  }
  labels.clear();
  const bool ok = tributary::Read(stretched, labels);
  if (ok) tributary::Require(labels.size() * 3073 == stretched.size());
  return 0;
}
