// The numbers that the rooms pass to each other, under their own names.
#ifndef TRIBUTARY_COMMON_BASE_TYPES_H_
#define TRIBUTARY_COMMON_BASE_TYPES_H_

#include <compare>
#include <cstdint>

namespace tributary {

// Steps applied so far (a version) or the index of a step; step t turns version t into t + 1.
using Step = int64_t;
using Version = int64_t;

// The fencing number of a job: raised when a server lost its memory.
using Generation = uint64_t;

// Names one life of one worker process.
using SessionId = uint64_t;

using ShardId = int32_t;

// Half-open range of positions in the flat parameter vector, in elements of fp32.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  bool contains(const ElementRange& other) const {
    return begin <= other.begin && other.end <= end && other.begin <= other.end;
  }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

// Half-open range of slots (micro-batches) of one step.
struct SlotRange {
  int32_t begin = 0;
  int32_t end = 0;

  int32_t size() const { return end - begin; }
  friend bool operator==(const SlotRange&, const SlotRange&) = default;
  // clang-tidy 14 takes the comparison's 0 for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const SlotRange&, const SlotRange&) = default;
};

// Half-open range of positions in an epoch's order of samples.
struct SampleRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  friend bool operator==(const SampleRange&, const SampleRange&) = default;
};

// What the samples of one or more slots amount to besides their gradient.
struct BatchStatistics {
  int64_t samples = 0;
  double loss_sum = 0;
  int64_t correct = 0;
  bool not_finite = false;

  BatchStatistics& operator+=(const BatchStatistics& other) {
    samples += other.samples;
    loss_sum += other.loss_sum;
    correct += other.correct;
    not_finite = not_finite || other.not_finite;
    return *this;
  }
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_BASE_TYPES_H_
