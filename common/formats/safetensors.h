// The safetensors file format: a model as named arrays, read and written by PyTorch
// (safetensors.torch.load_file), JAX and others.
//
//   8 bytes   N, the header's length, unsigned 64-bit little-endian
//   N bytes   JSON: {"name": {"dtype": "F32", "shape": [..], "data_offsets": [begin, end]}, ...,
//             "__metadata__": {"key": "value"}}, padded with spaces to a multiple of 8
//   the rest  the arrays, row-major, little-endian; offsets count from here; no holes
//
// Source of the format: the README of the safetensors project, "Format", and its Rust validator
// (header at most 100 MB, offsets in order, no holes, file fully used).
#ifndef TRIBUTARY_COMMON_FORMATS_SAFETENSORS_H_
#define TRIBUTARY_COMMON_FORMATS_SAFETENSORS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tributary {

struct NamedArray {
  std::string name;
  std::vector<int64_t> shape;
  absl::Span<const float> values;  // owned by the caller
};

// Writes fp32 arrays in the given order, atomically: to a temporary file beside `path`, fsync,
// rename, fsync of the directory. Errors: the path and the system's reason; nothing is left behind.
absl::Status WriteSafetensors(const std::string& path, const std::vector<NamedArray>& arrays,
                              const std::map<std::string, std::string>& metadata);

struct LoadedArray {
  std::vector<int64_t> shape;
  std::vector<float> values;
};

struct LoadedSafetensors {
  std::map<std::string, LoadedArray> arrays;
  std::map<std::string, std::string> metadata;
};

// Reads a file of F32 arrays. The file is not trusted: every size is checked against the file's
// before memory is taken. Errors: NOT_FOUND; DATA_LOSS with path, place, found and allowed.
absl::StatusOr<LoadedSafetensors> ReadSafetensors(const std::string& path);

// The same from bytes in memory (`name` stands in messages).
absl::StatusOr<LoadedSafetensors> ParseSafetensors(absl::string_view bytes,
                                                   const std::string& name);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_FORMATS_SAFETENSORS_H_
