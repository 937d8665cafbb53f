// What the prefetch thread does next and what it has ready: the protocol of batch_source.h as a
// value, without thread and lock.
//
// The expected sequence is every slot of `slots` of step `first`, then of the step after it, and so
// on to the end of the job. A position in it is (step - first) * slots.size() + index of the slot.
//
//   positions    0 1 2 | 3 4 5 | 6 7 8 | ...
//                  R       .
//                          ^ next: everything before it is ready, in progress, or gone
#ifndef TRIBUTARY_WORKER_DATA_PREFETCH_QUEUE_H_
#define TRIBUTARY_WORKER_DATA_PREFETCH_QUEUE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "absl/types/span.h"
#include "common/base/types.h"
#include "worker/data/batch_source.h"

namespace tributary {

// Names a micro-batch.
struct SlotKey {
  Step step = 0;
  int32_t slot = 0;
  friend bool operator==(const SlotKey&, const SlotKey&) = default;
};

class PrefetchQueue {
 public:
  // `slots` and `total_steps` of the job; `depth`: the most batches ready or in progress.
  PrefetchQueue(int32_t slots, int64_t total_steps, int depth);

  // Starts a new sequence. Of the batches that are ready, those among its first `depth` stay.
  void Expect(Step step, absl::Span<const int32_t> slots);

  // Whether StartNext has something to give. If not, the queue is full, another batch is in
  // progress, or nothing more is expected.
  bool HasWork();
  // The next batch to make, which is in progress from now on.
  std::optional<SlotKey> StartNext();
  // The batch in progress is made. It is dropped if nobody expects it any more.
  void Finish(ReadyBatch batch);

  // The batch asked for, if it is ready; it is out of the queue then. Otherwise the caller makes
  // it, and the queue does not hold it again. Batches of earlier steps go then: the caller is ahead
  // of them.
  std::optional<ReadyBatch> Take(SlotKey key);

 private:
  std::optional<int64_t> PositionOf(SlotKey key) const;
  SlotKey KeyAt(int64_t position) const;
  void SkipTo(Step step);

  const int64_t total_steps_;
  const int64_t depth_;
  Step first_ = 0;
  std::vector<int32_t> slots_;          // expected, without repeats
  std::vector<int64_t> index_of_slot_;  // in `slots_`; -1: not expected
  int64_t next_ = 0;
  int64_t floor_ = 0;                    // callers are past every position before it
  std::map<int64_t, ReadyBatch> ready_;  // by position
  std::set<int64_t> taken_;              // positions at or after `next_` that callers have
  std::optional<SlotKey> in_progress_;
  bool in_progress_taken_ = false;  // a caller made it meanwhile
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_DATA_PREFETCH_QUEUE_H_
