// What a worker is told to do next: the coordinator's work orders, as plain values.
#ifndef TRIBUTARY_COMMON_TRAINING_WORK_H_
#define TRIBUTARY_COMMON_TRAINING_WORK_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/base/types.h"

namespace tributary {

// Nothing to do yet; ask again.
struct WaitOrder {
  std::string reason;
};

// Compute the gradients of these slots of `step` from the parameters of version `step`, push them
// to every shard.
struct ComputeOrder {
  Step step = 0;
  std::vector<SlotRange> slots;
};

// Evaluate these units of the test set with the parameters of `version`.
struct EvaluateOrder {
  Version version = 0;
  std::vector<int32_t> units;
};

// The job is done.
struct FinishedOrder {
  Version version = 0;
};

using Work = std::variant<WaitOrder, ComputeOrder, EvaluateOrder, FinishedOrder>;

// What one unit of an EvaluateOrder came to.
struct EvaluationResult {
  Version version = 0;
  int32_t unit = 0;
  BatchStatistics statistics;
};

// What the data set of a job is; all workers must see the same.
struct DataSummary {
  int64_t train_samples = 0;
  int64_t test_samples = 0;
  uint64_t fingerprint = 0;
  friend bool operator==(const DataSummary&, const DataSummary&) = default;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_TRAINING_WORK_H_
