// tributary bench train
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/interrupts.h"
#include "cli/number_text.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/training_bench.h"
#include "common/base/exit_codes.h"

namespace tributary {
namespace {

constexpr int kMaxBatch = 1 << 20;
constexpr int kMaxSeconds = 3600;

struct BenchOptions {
  TrainingBenchOptions training;
  std::string json;
};

std::string BenchJson(const TrainingBenchOptions& options, const TrainingBenchResult& result) {
  const nlohmann::ordered_json json = {{"images_per_second", result.images_per_second},
                                       {"local_images_per_second", result.local_images_per_second},
                                       {"model", options.model},
                                       {"servers", options.servers},
                                       {"workers", options.workers},
                                       {"threads", options.threads},
                                       {"batch", options.batch}};
  return json.dump(2) + "\n";
}

int BenchTraining(const BenchOptions& options) {
  const absl::Status checked = CheckOutputFile("--json", options.json);
  if (!checked.ok()) return BadInput(checked);
  TrainingBenchOptions training = options.training;
  training.program_folder = ProgramFolder();
  training.note = [](const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); };
  Interrupts interrupts;
  const TrainingBenchResult result = RunTrainingBench(training, interrupts);
  if (result.exit_code == kExitBadInput) {
    return BadInput(absl::InvalidArgumentError(result.message));
  }
  if (result.exit_code != kExitDone) {
    Failed(result.message);
    return result.exit_code;
  }
  if (!options.json.empty()) {
    const absl::Status written = WriteFile(options.json, BenchJson(training, result));
    if (!written.ok()) return Failed(written.message());
  }
  const double ratio = result.images_per_second / result.local_images_per_second;
  return PrintResult(
      absl::StrFormat("without servers: %s images/s\nthrough servers: %s images/s\nratio: %.3f\n",
                      GroupDigits(static_cast<int64_t>(result.local_images_per_second)),
                      GroupDigits(static_cast<int64_t>(result.images_per_second)), ratio));
}

}  // namespace

void AddBenchCommand(CLI::App& app, Action& action) {
  const auto options = std::make_shared<BenchOptions>();
  TrainingBenchOptions& training = options->training;
  CLI::App* bench = app.add_subcommand("bench", "Measure speed");
  bench->require_subcommand(1);
  CLI::App* command = bench->add_subcommand(
      "train", "Images per second of training, through servers and without, on made-up images");
  command->add_option("--model", training.model, "mnist_cnn, mnist_tf_cnn, or a model file")
      ->type_name("MODEL")
      ->capture_default_str();
  AddWholeNumber(*command, "--servers", training.servers, 1, kMaxProcesses, "Server processes");
  AddWholeNumber(*command, "--workers", training.workers, 1, kMaxProcesses, "Worker processes");
  AddWholeNumber(*command, "--threads", training.threads, 1, kMaxThreads,
                 "Compute threads of each worker");
  AddWholeNumber(*command, "--batch", training.batch, 1, kMaxBatch, "Images per worker and step");
  AddWholeNumber(*command, "--seconds", training.seconds, 1, kMaxSeconds,
                 "About how long each of the two measurements takes, in seconds");
  AddOverrides(*command, training.overrides);
  AddOutputFile(*command, "--json", options->json,
                "Write images_per_second and local_images_per_second here");
  command->footer("Example: tributary bench train --workers 2 --batch 64 --json bench.json");
  command->callback([options, &action] { action = [options] { return BenchTraining(*options); }; });
}

}  // namespace tributary
