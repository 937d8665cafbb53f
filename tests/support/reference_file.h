// Reads the files of expected values that scripts beside the tests wrote with PyTorch and numpy.
//
// Format, little-endian: the eight bytes "TRIBREF1", then arrays up to the end of the file, each
//
//   uint32 length of the name | name | uint8 type ('f' float32, 'd' float64, 'i' int32) |
//   uint32 rank | rank times uint64 dimension | the values, row-major
#ifndef TRIBUTARY_TESTS_SUPPORT_REFERENCE_FILE_H_
#define TRIBUTARY_TESTS_SUPPORT_REFERENCE_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace tributary {

struct ReferenceArray {
  std::vector<int64_t> shape;
  std::vector<double> values;  // whatever the type in the file: each is exact in double

  std::vector<float> AsFloats() const { return {values.begin(), values.end()}; }
  std::vector<int32_t> AsInts() const { return {values.begin(), values.end()}; }
};

using ReferenceArrays = std::map<std::string, ReferenceArray>;

// Errors: NOT_FOUND, INVALID_ARGUMENT with the path and the position.
absl::StatusOr<ReferenceArrays> ReadReferenceFile(const std::string& path);

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_SUPPORT_REFERENCE_FILE_H_
