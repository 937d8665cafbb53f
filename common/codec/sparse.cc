#include "common/codec/sparse.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/codec/half.h"

namespace tributary {
namespace {

// The first entry at or behind `index`.
std::vector<SparseEntry>::const_iterator EntryAt(const std::vector<SparseEntry>& entries,
                                                 int64_t index) {
  return std::lower_bound(
      entries.begin(), entries.end(), index,
      [](const SparseEntry& entry, int64_t begin) { return int64_t{entry.index} < begin; });
}

}  // namespace

uint32_t MagnitudeBits(float value) {
  return std::bit_cast<uint32_t>(value) & kFloatMagnitude;
}

int64_t TopKCount(int64_t elements, double ratio) {
  const auto count = static_cast<int64_t>(std::ceil(static_cast<double>(elements) * ratio));
  return std::clamp<int64_t>(count, 1, elements);
}

TopKThreshold FindThreshold(absl::Span<const float> values, int64_t count,
                            std::vector<uint32_t>& scratch) {
  if (count >= static_cast<int64_t>(values.size())) return {0, static_cast<int64_t>(values.size())};
  scratch.resize(values.size());
  std::transform(values.begin(), values.end(), scratch.begin(), MagnitudeBits);
  const auto last = scratch.begin() + (count - 1);
  std::nth_element(scratch.begin(), last, scratch.end(), std::greater<>());
  // In front of `last` nothing is smaller; what is equal there is to be taken too.
  const auto equal = std::count(scratch.begin(), last + 1, *last);
  return {*last, static_cast<int64_t>(equal)};
}

absl::StatusOr<std::vector<SparseEntry>> ReadSparse(int64_t elements,
                                                    absl::Span<const absl::string_view> pieces) {
  size_t bytes = 0;
  for (const absl::string_view piece : pieces) bytes += piece.size();
  if (bytes % sizeof(SparseEntry) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        "found ", bytes, " bytes, expected whole entries of ", sizeof(SparseEntry), " bytes"));
  }
  std::vector<SparseEntry> entries(bytes / sizeof(SparseEntry));
  auto* out = reinterpret_cast<char*>(entries.data());
  for (const absl::string_view piece : pieces) {
    if (!piece.empty()) std::memcpy(out, piece.data(), piece.size());
    out += piece.size();
  }
  int64_t next = 0;
  for (const SparseEntry& entry : entries) {
    if (int64_t{entry.index} < next || int64_t{entry.index} >= elements) {
      return absl::InvalidArgumentError(absl::StrCat("entry: found index ", entry.index,
                                                     ", expected ascending ones from ", next,
                                                     " to ", elements - 1));
    }
    if (entry.value == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("entry: found 0 at index ", entry.index, ", expected no zeros"));
    }
    next = int64_t{entry.index} + 1;
  }
  return entries;
}

void SparseSource::CopyTo(int64_t first, absl::Span<float> out) const {
  std::fill(out.begin(), out.end(), 0.0F);
  const int64_t end = first + static_cast<int64_t>(out.size());
  for (auto it = EntryAt(entries_, first); it != entries_.end() && it->index < end; ++it) {
    out[static_cast<size_t>(it->index - first)] = it->value;
  }
}

void SparseSource::AddTo(int64_t first, absl::Span<float> sum) const {
  const int64_t end = first + static_cast<int64_t>(sum.size());
  for (auto it = EntryAt(entries_, first); it != entries_.end() && it->index < end; ++it) {
    sum[static_cast<size_t>(it->index - first)] += it->value;
  }
}

}  // namespace tributary
