// The flat parameter space: every tensor of a model laid end to end in one vector of fp32, in layer
// order (weight, then bias), each starting at a multiple of 16 elements (64 bytes).
//
//   conv1.weight [10,1,5,5]  | pad | conv1.bias [10] | pad | conv2.weight ...
//   |<----- shard 0 ------------------->|<----- shard 1 ----------------->|
//
// Shard k of S owns one contiguous range of whole 64-element units, equal to within one unit,
// wherever the tensors' borders are; the last unit of all may be shorter. Padding elements are
// parameters that stay zero. Worker and server compute the layout from the model alone and compare
// its fingerprint when they meet.
#ifndef TRIBUTARY_COMMON_MODEL_LAYOUT_H_
#define TRIBUTARY_COMMON_MODEL_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/types.h"

namespace tributary {

// Elements; 64 bytes, a cache line and the widest vector register.
inline constexpr int64_t kLayoutAlignment = 16;
// Shards and chunks begin at multiples of this many elements of the flat vector, so that no block
// of the int8 wire type is cut (common/codec/wire_type.h).
inline constexpr int64_t kShardUnit = 64;
// 2^40 elements are 4 TiB: no size in bytes overflows, and a mistake in a model file is found.
inline constexpr int64_t kMaxLayoutElements = int64_t{1} << 40;

struct ParameterTensor {
  std::string name;            // "conv1.weight"
  std::vector<int64_t> shape;  // PyTorch's order
  int64_t offset = 0;          // elements, from the start of the flat vector
  int64_t elements = 0;
  bool is_bias = false;

  ElementRange range() const { return {offset, offset + elements}; }
};

class Layout {
 public:
  // `tensors` in order, with offset left open. Errors: INVALID_ARGUMENT for a dimension below 1, a
  // name that occurs twice, more than kMaxLayoutElements.
  static absl::StatusOr<Layout> Create(std::vector<ParameterTensor> tensors);

  const std::vector<ParameterTensor>& tensors() const { return tensors_; }
  // Length of the flat vector, padding included.
  int64_t elements() const { return elements_; }
  // Sum of the tensors' elements.
  int64_t parameters() const { return parameters_; }
  // Over names, shapes and offsets.
  uint64_t fingerprint() const { return fingerprint_; }

  // The range of shard `shard` of `shards`, 0 <= shard < shards; empty if there are more shards
  // than units.
  ElementRange ShardRange(ShardId shard, ShardId shards) const;

 private:
  std::vector<ParameterTensor> tensors_;
  int64_t elements_ = 0;
  int64_t parameters_ = 0;
  uint64_t fingerprint_ = 0;
};

// The runs of at most `chunk_elements` that a transfer of `range` is made of; one empty chunk for
// an empty range.
std::vector<ElementRange> CutIntoChunks(ElementRange range, int64_t chunk_elements);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_MODEL_LAYOUT_H_
