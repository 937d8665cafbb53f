// The content of a gzip file (RFC 1952; one member or several) as a stream, decompressed by zlib
// as it is read: no more of it exists at a time than what was asked for.
#ifndef TRIBUTARY_WORKER_DATA_GZIP_STREAM_H_
#define TRIBUTARY_WORKER_DATA_GZIP_STREAM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "worker/data/byte_stream.h"

namespace tributary {

// `raw` itself, or its decompressed content if it starts with gzip's magic number. Reading then
// fails with INVALID_ARGUMENT and the byte of the compressed file where the data are broken, end
// too early, or go on with something that is no gzip member. Checksums are checked when the end is
// read (ExpectEnd).
absl::StatusOr<std::unique_ptr<ByteStream>> DecompressIfGzip(std::unique_ptr<ByteStream> raw);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_GZIP_STREAM_H_
