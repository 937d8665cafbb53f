#include "cli/training_bench.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/builtin_models.h"
#include "cli/files.h"
#include "cli/local_run.h"
#include "cli/number_text.h"
#include "common/base/exit_codes.h"
#include "common/base/status_macros.h"
#include "common/job/job_file.h"

namespace tributary {
namespace {

// As many as MNIST has.
constexpr int64_t kTrainSamples = 60'000;
// Enough to have planned every primitive and touched all memory, and to tell the rate roughly.
constexpr int64_t kFirstSteps = 20;
constexpr double kCalibrationSeconds = 1;

absl::StatusOr<std::string> ModelText(const std::string& model) {
  std::vector<absl::string_view> names;
  for (const BuiltinModel& builtin : BuiltinModels()) {
    if (builtin.name == model) return std::string(builtin.text);
    names.push_back(builtin.name);
  }
  absl::StatusOr<std::string> text = ReadFile(model);
  if (!text.ok()) {
    return absl::InvalidArgumentError(absl::StrCat("--model: found ", model, ", allowed ",
                                                   absl::StrJoin(names, ", "), " or a model file"));
  }
  return text;
}

std::string JobText(const TrainingBenchOptions& options) {
  const int64_t batch = int64_t{options.batch} * options.workers;
  return absl::StrFormat(R"(name: "bench"
model_file: "model.textproto"
data { format: SYNTHETIC classes: 10 synthetic_train_samples: %d }
optimizer { sgd { momentum: 0.5 } }
learning_rate { base: 0.01 }
training { epochs: 1000000 global_batch: %d slots: %d min_workers: %d }
)",
                         kTrainSamples, batch, options.workers * options.threads, options.workers);
}

// Runs the bench's job for a number of steps; how, is the caller's choice.
using Runner = std::function<ClusterOutcome(const std::vector<std::string>& overrides)>;

class Bench {
 public:
  Bench(const TrainingBenchOptions& options, Interrupts& interrupts, std::string job_file)
      : options_(options), interrupts_(interrupts), job_file_(std::move(job_file)) {}

  TrainingBenchResult Run();

 private:
  // The rate of a run of about `seconds`, if steps come at `rate` images/s.
  ClusterOutcome Timed(const Runner& runner, double rate, double seconds) const;
  ClusterOutcome Local(const std::vector<std::string>& overrides);
  ClusterOutcome Processes(const std::vector<std::string>& overrides);
  ClusterOutcome Measure(const Runner& runner, double expected_rate) const;
  void Note(const std::string& line) const {
    if (options_.note) options_.note(line);
  }

  const TrainingBenchOptions& options_;
  Interrupts& interrupts_;
  const std::string job_file_;
};

ClusterOutcome Bench::Timed(const Runner& runner, double rate, double seconds) const {
  const double batch = static_cast<double>(options_.batch) * options_.workers;
  const double steps = std::clamp(std::ceil(rate * seconds / batch), 1.0, 1e12);
  std::vector<std::string> overrides = options_.overrides;
  overrides.push_back(absl::StrCat("training.max_steps=", static_cast<int64_t>(steps)));
  return runner(overrides);
}

ClusterOutcome Bench::Measure(const Runner& runner, double expected_rate) const {
  ClusterOutcome calibration = Timed(runner, expected_rate, kCalibrationSeconds);
  if (calibration.exit_code != kExitDone) return calibration;
  return Timed(runner, calibration.result.images_per_second(), options_.seconds);
}

ClusterOutcome Bench::Local(const std::vector<std::string>& overrides) {
  const absl::StatusOr<LoadedJob> loaded = LoadJobFile(job_file_, overrides);
  if (!loaded.ok()) return {kExitBadInput, std::string(loaded.status().message()), {}};
  int signal = 0;
  LocalRunOptions local;
  local.threads = options_.threads * options_.workers;
  local.cancelled = [&] {
    if (signal == 0) signal = interrupts_.Take();
    return signal != 0;
  };
  const absl::StatusOr<RunResult> result = RunLocally(*loaded, local);
  if (signal != 0) return {128 + signal, "interrupted", {}};
  if (!result.ok()) return {kExitFailed, std::string(result.status().message()), {}};
  return {kExitDone, "", *result};
}

ClusterOutcome Bench::Processes(const std::vector<std::string>& overrides) {
  ClusterOptions cluster;
  cluster.program_folder = options_.program_folder;
  cluster.job_file = job_file_;
  cluster.overrides = overrides;
  cluster.servers = options_.servers;
  cluster.workers = options_.workers;
  cluster.threads = options_.threads;
  cluster.note = options_.note;
  return RunCluster(cluster, interrupts_);
}

TrainingBenchResult Bench::Run() {
  TrainingBenchResult result;
  const Runner local = [this](const auto& overrides) { return Local(overrides); };
  const Runner processes = [this](const auto& overrides) { return Processes(overrides); };
  const auto has_failed = [&result](const ClusterOutcome& outcome) {
    result.exit_code = outcome.exit_code;
    result.message = outcome.message;
    return outcome.exit_code != kExitDone;
  };

  Note(absl::StrCat("measuring without servers: ", Counted(options_.seconds, "second")));
  const double first_images = static_cast<double>(kFirstSteps) * options_.batch * options_.workers;
  ClusterOutcome outcome = Timed(local, first_images, 1);
  if (has_failed(outcome)) return result;
  outcome = Measure(local, outcome.result.images_per_second());
  if (has_failed(outcome)) return result;
  result.local_images_per_second = outcome.result.images_per_second();

  Note(absl::StrCat("measuring with ", Counted(options_.servers, "server"), " and ",
                    Counted(options_.workers, "worker"), ": ",
                    Counted(options_.seconds, "second")));
  outcome = Measure(processes, result.local_images_per_second);
  if (has_failed(outcome)) return result;
  result.images_per_second = outcome.result.images_per_second();
  return result;
}

}  // namespace

TrainingBenchResult RunTrainingBench(const TrainingBenchOptions& options, Interrupts& interrupts) {
  TrainingBenchResult result;
  const absl::StatusOr<std::string> model = ModelText(options.model);
  if (!model.ok()) return {kExitBadInput, std::string(model.status().message())};
  const absl::StatusOr<TemporaryFolder> folder = TemporaryFolder::Create();
  absl::Status status = folder.status();
  const auto write = [&](const std::string& name, const std::string& text) {
    if (status.ok()) status = WriteFile(absl::StrCat(folder->path(), "/", name), text);
  };
  write("model.textproto", *model);
  write("job.textproto", JobText(options));
  if (!status.ok()) return {kExitFailed, std::string(status.message())};
  return Bench(options, interrupts, folder->path() + "/job.textproto").Run();
}

}  // namespace tributary
