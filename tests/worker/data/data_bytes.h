// Makes the bytes of data files, whole and broken.
#ifndef TRIBUTARY_TESTS_WORKER_DATA_DATA_BYTES_H_
#define TRIBUTARY_TESTS_WORKER_DATA_DATA_BYTES_H_

#include <zlib.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "worker/data/byte_stream.h"
#include "worker/data/gzip_stream.h"

namespace tributary {

// Big-endian 32-bit numbers, one after the other.
inline std::string Words(std::initializer_list<uint32_t> words) {
  std::string bytes;
  for (const uint32_t word : words) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(word >> shift));
  }
  return bytes;
}

// `count` bytes: first, first + 1, ...
inline std::string Counting(int64_t count, int first = 0) {
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) bytes.push_back(static_cast<char>(first + i));
  return bytes;
}

// `count` zeros, which compress to almost nothing.
inline std::string Zeros(size_t count) {
  return std::string(count, '\0');
}

// A record of CIFAR-10 with every pixel `pixel`.
inline std::string Cifar10Record(int label, int pixel) {
  return std::string(1, static_cast<char>(label)) + std::string(3072, static_cast<char>(pixel));
}

// One gzip member.
inline std::string Gzip(std::string_view content) {
  z_stream zlib{};
  deflateInit2(&zlib, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string bytes(deflateBound(&zlib, content.size()), '\0');
  std::string input(content);
  zlib.next_in = reinterpret_cast<Bytef*>(input.data());
  zlib.avail_in = static_cast<uInt>(input.size());
  zlib.next_out = reinterpret_cast<Bytef*>(bytes.data());
  zlib.avail_out = static_cast<uInt>(bytes.size());
  deflate(&zlib, Z_FINISH);
  bytes.resize(zlib.total_out);
  deflateEnd(&zlib);
  return bytes;
}

inline absl::Span<const uint8_t> AsBytes(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// A data file in memory, as OpenDataFile would open it. `content` must outlive the stream.
inline absl::StatusOr<std::unique_ptr<ByteStream>> OpenBytes(std::string name,
                                                             std::string_view content) {
  return DecompressIfGzip(std::make_unique<MemoryStream>(std::move(name), AsBytes(content)));
}

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_WORKER_DATA_DATA_BYTES_H_
