// Elements that are read once, on their way into a sum or into their place: what SlotTree adds up,
// wherever it lies (memory, slices of a message) and whatever its wire type.
#ifndef TRIBUTARY_COMMON_CODEC_VALUE_SOURCE_H_
#define TRIBUTARY_COMMON_CODEC_VALUE_SOURCE_H_

#include <cstdint>

#include "absl/types/span.h"

namespace tributary {

// Immutable while it is read; any number of threads may read. In both calls `first` is a multiple
// of kInt8Block and first + size at most the number of elements.
class ValueSource {
 public:
  virtual ~ValueSource() = default;

  virtual void CopyTo(int64_t first, absl::Span<float> out) const = 0;
  virtual void AddTo(int64_t first, absl::Span<float> sum) const = 0;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CODEC_VALUE_SOURCE_H_
