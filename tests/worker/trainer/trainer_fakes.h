// A network whose gradient can be worked out by hand, a small data set, a job over it.
#ifndef TRIBUTARY_TESTS_WORKER_TRAINER_TRAINER_FAKES_H_
#define TRIBUTARY_TESTS_WORKER_TRAINER_TRAINER_FAKES_H_

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "common/job/job_file.h"
#include "worker/compute/backend.h"
#include "worker/data/dataset.h"
#include "worker/trainer/compute_pool.h"

namespace tributary {

// Every element of the gradient is parameter 0 plus the sum of the labels plus a hundredth of the
// step; the loss of every sample is parameter 0; a sample is "correct" if its label is 0.
class HandNetwork final : public Network {
 public:
  absl::Status SetParameters(absl::Span<const float> parameters) override {
    parameter_ = parameters[0];
    return absl::OkStatus();
  }
  absl::Status ComputeGradient(const Batch& batch, const DropoutKey& key,
                               absl::Span<float> gradient, BatchStatistics& statistics) override {
    const int32_t labels = std::accumulate(batch.labels.begin(), batch.labels.end(), 0);
    std::fill(gradient.begin(), gradient.end(),
              parameter_ + static_cast<float>(labels) + 0.01F * static_cast<float>(key.step));
    return Evaluate(batch, statistics);
  }
  absl::Status Evaluate(const Batch& batch, BatchStatistics& statistics) override {
    statistics = {.samples = batch.size(),
                  .loss_sum = static_cast<double>(parameter_) * static_cast<double>(batch.size()),
                  .correct = std::count(batch.labels.begin(), batch.labels.end(), 0)};
    return absl::OkStatus();
  }
  absl::Status ComputeLogits(absl::Span<const float>, int64_t, absl::Span<float>) override {
    return absl::UnimplementedError("not asked for");
  }

 private:
  float parameter_ = 0;
};

inline absl::StatusOr<std::unique_ptr<Network>> MakeHandNetwork(const ModelPlan&, int64_t) {
  return std::make_unique<HandNetwork>();
}

// 24 samples in batches of 12, six slots of 2.
inline Job HandJob() {
  v1::JobSpec spec;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "seed: 3 model { name: 'm' input { channels: 1 height: 2 width: 2 } layer { flatten {} } "
      "layer { name: 'fc' dense { out_features: 3 } } layer { softmax_cross_entropy {} } } "
      "data { format: SYNTHETIC classes: 3 synthetic_train_samples: 24 synthetic_test_samples: 7 } "
      "optimizer { sgd {} } learning_rate { base: 0.5 } "
      "training { epochs: 2 global_batch: 12 slots: 6 } evaluation { batch: 3 }",
      &spec));
  absl::StatusOr<Job> job = JobFromSpec(spec);
  EXPECT_TRUE(job.ok()) << job.status();
  return *std::move(job);
}

inline Dataset HandData(const Job& job) {
  absl::StatusOr<Dataset> data = LoadDataset(job.data, job.model.model.input, job.seed);
  EXPECT_TRUE(data.ok()) << data.status();
  return *std::move(data);
}

inline BatchPlan PlanOf(const Job& job) {
  return {24, job.training.global_batch, job.training.slots, job.training.epochs, 0};
}

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_WORKER_TRAINER_TRAINER_FAKES_H_
