// Jobs small enough to be trained many times.
#ifndef TRIBUTARY_TESTS_E2E_CLUSTER_JOBS_H_
#define TRIBUTARY_TESTS_E2E_CLUSTER_JOBS_H_

#include <google/protobuf/text_format.h>

#include <fstream>
#include <iterator>
#include <string>

#include "common/job/job_file.h"
#include "gtest/gtest.h"

namespace tributary {

// A model file of models/, as text.
inline std::string ModelText(const std::string& name) {
  std::ifstream file("models/" + name + ".textproto");
  return "model {" + std::string(std::istreambuf_iterator<char>(file), {}) + "}";
}

// A job over synthetic images; `text` has the model, the optimizer and the training.
inline LoadedJob SyntheticJob(const std::string& text) {
  LoadedJob job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "name: 'test' seed: 7 data { format: SYNTHETIC classes: 10 synthetic_train_samples: 50 "
      "synthetic_test_samples: 23 } evaluation { every_epochs: 1 batch: 5 }" +
          text,
      &job.spec));
  absl::StatusOr<Job> checked = JobFromSpec(job.spec);
  EXPECT_TRUE(checked.ok()) << checked.status();
  if (checked.ok()) job.job = *std::move(checked);
  return job;
}

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_E2E_CLUSTER_JOBS_H_
