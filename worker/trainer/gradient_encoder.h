// A slot's gradient to the job's push type, where that is another than fp32. What the type loses is
// kept for the slot's next step, if the job says so (error feedback):
//
//   sent(t) = encode(gradient(t) + error(t))      error(t + 1) = gradient(t) + error(t) - sent(t)
//
// error(t) is zero unless this encoder encoded the slot in step t - 1: with a slot that has changed
// hands, or comes back, nothing old comes along.
//
// Sources: F. Seide et al., "1-bit stochastic gradient descent", 2014; for the largest elements, A.
// F. Aji and K. Heafield, "Sparse Communication for Distributed Gradient Descent", 2017.
#ifndef TRIBUTARY_WORKER_TRAINER_GRADIENT_ENCODER_H_
#define TRIBUTARY_WORKER_TRAINER_GRADIENT_ENCODER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "common/base/types.h"
#include "common/codec/encoded_vector.h"
#include "common/job/job.h"
#include "common/model/layout.h"

namespace tributary {

// Thread-safe for different slots.
class GradientEncoder {
 public:
  // `layout` outlives it.
  GradientEncoder(const TransferConfig& transfer, const Layout& layout)
      : transfer_(transfer), layout_(layout) {}

  // `gradient` is the slot's, over the whole flat vector. Sets not_finite in `statistics` if what
  // goes out is not finite (an fp16 can be infinite where the gradient is not). A gradient that is
  // not finite leaves the error as it is, as its step is left out.
  EncodedVector Encode(Step step, int32_t slot, absl::Span<const float> gradient,
                       BatchStatistics& statistics);

 private:
  struct SlotError {
    Step step = -1;             // that it is for
    std::vector<float> values;  // the flat vector
  };

  // The slot's error in this step; null without error feedback.
  std::vector<float>* ErrorOf(Step step, int32_t slot);
  EncodedVector EncodeDense(absl::Span<const float> gradient, std::vector<float>* error,
                            BatchStatistics& statistics) const;
  EncodedVector EncodeLargest(absl::Span<const float> gradient, std::vector<float>* error,
                              BatchStatistics& statistics) const;

  const TransferConfig transfer_;
  const Layout& layout_;
  absl::Mutex mutex_;
  std::map<int32_t, SlotError> errors_ ABSL_GUARDED_BY(mutex_);  // stay where they are
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_TRAINER_GRADIENT_ENCODER_H_
