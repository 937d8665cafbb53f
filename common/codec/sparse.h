// The top-k type: the largest elements alone, as (index, value) in ascending order of the index
// (A. F. Aji and K. Heafield, "Sparse Communication for Distributed Gradient Descent", 2017). What
// is not there is +0. A zero is never an entry, so a sum of sparse parts never has a -0, and adding
// what is there gives the bits that adding everything would.
#ifndef TRIBUTARY_COMMON_CODEC_SPARSE_H_
#define TRIBUTARY_COMMON_CODEC_SPARSE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/codec/value_source.h"

namespace tributary {

// 8 bytes on the wire, as in memory.
struct SparseEntry {
  uint32_t index = 0;  // from the start of the chunk
  float value = 0;
};
static_assert(sizeof(SparseEntry) == 8);

// How many of a tensor's elements are sent: the ratio's part, rounded up, at least one. `ratio`
// above 0 and at most 1.
int64_t TopKCount(int64_t elements, double ratio);

// Calls take(index) for the `count` elements of the largest magnitude in ascending order, zeros
// left out; of equal ones those with the smaller index. NaN is larger than infinity, infinity than
// the rest. `scratch` is for reuse. Linear in the number of elements on average.
template <typename Take>
void SelectLargest(absl::Span<const float> values, int64_t count, std::vector<uint32_t>& scratch,
                   Take take);

// Entries from the network, in pieces cut anywhere, for a chunk of `elements` elements. Errors:
// INVALID_ARGUMENT for a part of an entry, and for an index that does not ascend or lies outside,
// and for a value of zero.
absl::StatusOr<std::vector<SparseEntry>> ReadSparse(int64_t elements,
                                                    absl::Span<const absl::string_view> pieces);

class SparseSource final : public ValueSource {
 public:
  // Ascending, and within the chunk.
  explicit SparseSource(std::vector<SparseEntry> entries) : entries_(std::move(entries)) {}

  void CopyTo(int64_t first, absl::Span<float> out) const override;
  void AddTo(int64_t first, absl::Span<float> sum) const override;

 private:
  std::vector<SparseEntry> entries_;
};

// ------------------------------------------------------------------------------- implementation

// The magnitude, as integers are ordered, of which `count` elements are at least as large, and how
// many of exactly that magnitude are among them.
struct TopKThreshold {
  uint32_t magnitude = 0;
  int64_t of_equal = 0;
};
TopKThreshold FindThreshold(absl::Span<const float> values, int64_t count,
                            std::vector<uint32_t>& scratch);
uint32_t MagnitudeBits(float value);

template <typename Take>
void SelectLargest(absl::Span<const float> values, int64_t count, std::vector<uint32_t>& scratch,
                   Take take) {
  TopKThreshold threshold = FindThreshold(values, count, scratch);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint32_t magnitude = MagnitudeBits(values[i]);
    if (magnitude < threshold.magnitude || magnitude == 0) continue;
    if (magnitude == threshold.magnitude && threshold.of_equal-- <= 0) continue;
    take(static_cast<int64_t>(i));
  }
}

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_CODEC_SPARSE_H_
