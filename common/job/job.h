// The job, checked and with every default filled in: what the rooms below are handed. Made from a
// JobSpec (the job file, or what the coordinator sent) by job_file.h; the meaning of each field is
// in proto/tributary/v1/job.proto.
#ifndef TRIBUTARY_COMMON_JOB_JOB_H_
#define TRIBUTARY_COMMON_JOB_JOB_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "common/codec/wire_type.h"
#include "common/model/model_plan.h"

namespace tributary {

struct DataConfig {
  enum class Format { kAuto, kIdx, kCifar10, kSynthetic };
  Format format = Format::kAuto;
  std::string dir;
  // Names inside `dir`; empty: the format's defaults.
  std::vector<std::string> train_images;
  std::vector<std::string> train_labels;
  std::vector<std::string> test_images;
  std::vector<std::string> test_labels;
  int64_t classes = 0;
  // One per channel of the model's input.
  std::vector<double> mean;
  std::vector<double> stddev;
  int64_t synthetic_train_samples = 1024;
  int64_t synthetic_test_samples = 256;
};

struct SgdConfig {
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double weight_decay = 0;
};

struct AdamConfig {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
  bool decoupled_weight_decay = false;  // AdamW
  bool keras_epsilon = false;
};

struct AdaGradConfig {
  double epsilon = 1e-10;
  double initial_accumulator = 0;
  double weight_decay = 0;
  double learning_rate_decay = 0;
};

struct OptimizerConfig {
  std::variant<SgdConfig, AdamConfig, AdaGradConfig> kind;
  bool no_decay_on_bias = false;
};

struct LearningRateConfig {
  struct Constant {};
  struct StepDecay {
    int64_t every_epochs = 1;
    double factor = 1;
  };
  struct Cosine {
    double minimum = 0;
  };
  double base = 0;
  int64_t warmup_steps = 0;
  std::variant<Constant, StepDecay, Cosine> schedule;
};

struct TrainingConfig {
  int64_t epochs = 1;
  int64_t max_steps = 0;
  int64_t global_batch = 1;
  int32_t slots = 1;
  int32_t min_workers = 1;
};

struct EvaluationConfig {
  int64_t every_epochs = 0;
  int64_t batch = 500;
};

// How gradients and parameters go over the wire.
struct TransferConfig {
  WireType push = WireType::kFp32;
  WireType pull = WireType::kFp32;
  bool error_feedback = false;
  double top_k_ratio = 0.01;
};

struct Job {
  std::string name;
  uint64_t seed = 0;
  ModelPlan model;
  DataConfig data;
  OptimizerConfig optimizer;
  LearningRateConfig learning_rate;
  TrainingConfig training;
  EvaluationConfig evaluation;
  TransferConfig transfer;
};

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_JOB_JOB_H_
