// Any bytes as a gzip file of IDX images: every way of cutting the reads gives the same content and
// the same error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "worker/data/byte_stream.h"
#include "worker/data/gzip_stream.h"
#include "worker/data/idx.h"

namespace tributary {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

// More than this is not read: a fuzzer finds bombs quickly.
constexpr size_t kMostBytes = 1 << 20;

struct Content {
  std::vector<uint8_t> bytes;
  absl::Status status;
};

Content ReadInPieces(absl::Span<const uint8_t> file, size_t piece) {
  Content content;
  const auto stream = DecompressIfGzip(std::make_unique<MemoryStream>("file", file)).value();
  const int64_t most = stream->most_remaining();
  std::vector<uint8_t> buffer(piece);
  while (content.bytes.size() < kMostBytes) {
    const absl::StatusOr<int64_t> bytes = stream->Read(absl::MakeSpan(buffer));
    content.status = bytes.status();
    if (!bytes.ok()) break;
    content.bytes.insert(content.bytes.end(), buffer.begin(), buffer.begin() + *bytes);
    if (*bytes < static_cast<int64_t>(piece)) break;
  }
  Require(static_cast<int64_t>(content.bytes.size()) <= most);
  return content;
}

}  // namespace
}  // namespace tributary

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tributary::Content;
  // The magic number and the method are given, so that the fuzzer need not find them.
  std::string file("\x1f\x8b\x08");
  file.append(reinterpret_cast<const char*>(data), size);
  const absl::Span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(file.data()), file.size());
  const Content by_bytes = tributary::ReadInPieces(bytes, 1);
  const Content by_blocks = tributary::ReadInPieces(bytes, 4096);
  if (by_bytes.bytes.size() < tributary::kMostBytes) {
    tributary::Require(by_bytes.status == by_blocks.status);
    // A read that fails gives nothing, so the larger pieces may end earlier.
    tributary::Require(by_blocks.bytes.size() <= by_bytes.bytes.size());
    tributary::Require(
        std::equal(by_blocks.bytes.begin(), by_blocks.bytes.end(), by_bytes.bytes.begin()));
    if (by_bytes.status.ok()) tributary::Require(by_bytes.bytes == by_blocks.bytes);
  }
  const auto stream =
      tributary::DecompressIfGzip(std::make_unique<tributary::MemoryStream>("file", bytes)).value();
  std::vector<uint8_t> pixels;
  (void)tributary::ReadIdxImages(*stream, {1, 2, 3}, pixels);
  return 0;
}
