// tributary run JOB
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/interrupts.h"
#include "cli/launcher.h"
#include "cli/local_run.h"
#include "cli/number_text.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/status_poller.h"
#include "common/base/exit_codes.h"
#include "common/base/status_macros.h"
#include "common/formats/result_json.h"
#include "common/job/job_file.h"
#include "common/training/batch_plan.h"
#include "worker/data/dataset.h"

namespace tributary {
namespace {

struct RunOptions {
  std::string job;
  std::vector<std::string> overrides;
  int servers = 1;
  int workers = 1;
  int threads = 1;
  bool is_local = false;
  std::string model_out;
  std::string json;
  std::string log_folder;
};

// What is known before anything is started.
struct CheckedRun {
  LoadedJob job;
  int64_t train_samples = 0;
  int64_t test_samples = 0;
};

absl::StatusOr<CheckedRun> CheckRun(const RunOptions& options) {
  ASSIGN_OR_RETURN(LoadedJob loaded, LoadJobFile(options.job, options.overrides));
  RETURN_IF_ERROR(CheckOutputFile("--model-out", options.model_out));
  RETURN_IF_ERROR(CheckOutputFile("--json", options.json));
  if (!options.json.empty() && options.json == options.model_out) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--json: found ", options.json, ", allowed another file than that of --model-out"));
  }
  const int min_workers = loaded.job.training.min_workers;
  if (!options.is_local && min_workers > options.workers) {
    return absl::InvalidArgumentError(absl::StrCat("--workers: found ", options.workers,
                                                   ", allowed ", min_workers,
                                                   " or more (training.min_workers)"));
  }
  ASSIGN_OR_RETURN(const Dataset data,
                   LoadDataset(loaded.job.data, loaded.job.model.model.input, loaded.job.seed));
  return CheckedRun{std::move(loaded), data.train.samples(), data.test.samples()};
}

std::string Greeting(const RunOptions& options, const CheckedRun& run) {
  const std::string threads = Counted(options.threads, "thread");
  const std::string who = options.is_local
                              ? absl::StrCat("this process, ", threads)
                              : absl::StrCat(Counted(options.servers, "server"), ", ",
                                             Counted(options.workers, "worker"), " of ", threads);
  return absl::StrCat(run.job.job.name, ": ", who, "; ",
                      Counted(run.train_samples, "training image"), ", ",
                      Counted(run.test_samples, "test image"));
}

// Empty, or that some of the threads will have nothing to do.
std::string IdleThreadsNote(const RunOptions& options, const Job& job) {
  const int64_t threads = int64_t{options.threads} * (options.is_local ? 1 : options.workers);
  if (threads <= job.training.slots) return "";
  return absl::StrCat("note: ", Counted(threads, "thread"), " for ",
                      Counted(job.training.slots, "slot"),
                      " of a step: the rest is idle (training.slots)");
}

ClusterOutcome RunInThisProcess(const RunOptions& options, const LoadedJob& job,
                                Interrupts& interrupts, Progress& progress) {
  int signal = 0;
  LocalRunOptions local;
  local.threads = options.threads;
  local.model_out = options.model_out;
  local.progress = [&progress](const v1::JobStatus& status) { progress.Show(status); };
  local.cancelled = [&signal, &interrupts] {
    if (signal != 0) return true;
    signal = interrupts.Take();
    if (signal != 0) interrupts.LetNextOneKill();
    return signal != 0;
  };
  const absl::StatusOr<RunResult> result = RunLocally(job, local);
  if (result.ok()) return {.exit_code = kExitDone, .message = "", .result = *result};
  if (signal != 0) return {.exit_code = 128 + signal, .message = "interrupted", .result = {}};
  return {
      .exit_code = kExitFailed, .message = std::string(result.status().message()), .result = {}};
}

ClusterOutcome RunProcesses(const RunOptions& options, Interrupts& interrupts, Progress& progress) {
  std::optional<StatusPoller> poller;
  ClusterOptions cluster;
  cluster.program_folder = ProgramFolder();
  cluster.job_file = options.job;
  cluster.overrides = options.overrides;
  cluster.servers = options.servers;
  cluster.workers = options.workers;
  cluster.threads = options.threads;
  cluster.model_out = options.model_out;
  cluster.log_folder = options.log_folder;
  cluster.note = [&progress](const std::string& line) { progress.Say(line); };
  cluster.on_started = [&](const std::string& address) {
    poller.emplace(address, [&progress](const v1::JobStatus& status) { progress.Show(status); });
  };
  return RunCluster(cluster, interrupts);
}

// The evaluation at the end, which may have passed between two looks at the job.
void ShowFinalEvaluation(const CheckedRun& run, const RunResult& result, Progress& progress) {
  const TrainingConfig& training = run.job.job.training;
  const BatchPlan plan(run.train_samples, training.global_batch, training.slots, training.epochs,
                       training.max_steps);
  v1::JobStatus status = progress.last();
  status.set_phase(v1::PHASE_FINISHED);
  status.set_steps_per_epoch(static_cast<uint64_t>(plan.steps_per_epoch()));
  status.set_test_version(static_cast<uint64_t>(result.steps));
  status.set_test_count(static_cast<uint64_t>(result.test_count));
  status.set_test_correct(static_cast<uint64_t>(result.test_correct));
  status.set_test_loss(result.test_loss);
  progress.Show(status);
}

int PrintRun(const RunOptions& options, const RunResult& result) {
  if (!options.json.empty()) {
    const absl::Status written = WriteFile(options.json, FormatResultJson(result));
    if (!written.ok()) return Failed(written.message());
  }
  std::string text;
  if (!options.model_out.empty()) absl::StrAppend(&text, "model: ", options.model_out, "\n");
  absl::StrAppendFormat(&text, "trained: %s, %s in %.1f s, %s images/s\n",
                        Counted(result.steps, "step"), Counted(result.images, "image"),
                        result.seconds,
                        GroupDigits(static_cast<int64_t>(result.images_per_second())));
  absl::StrAppendFormat(&text, "test loss: %.4f\ntest accuracy: %.4f\n", result.test_loss,
                        result.test_accuracy());
  return PrintResult(text);
}

int Run(const RunOptions& options) {
  const absl::StatusOr<CheckedRun> run = CheckRun(options);
  if (!run.ok()) return BadInput(run.status());

  Interrupts interrupts;
  std::optional<Progress> progress(std::in_place, StandardErrorOutput());
  progress->Say(Greeting(options, *run));
  const std::string note = IdleThreadsNote(options, run->job.job);
  if (!note.empty()) progress->Say(note);

  const ClusterOutcome outcome = options.is_local
                                     ? RunInThisProcess(options, run->job, interrupts, *progress)
                                     : RunProcesses(options, interrupts, *progress);
  if (outcome.exit_code == kExitDone) ShowFinalEvaluation(*run, outcome.result, *progress);
  progress.reset();
  if (outcome.exit_code != kExitDone) {
    Failed(outcome.message);
    return outcome.exit_code;
  }
  return PrintRun(options, outcome.result);
}

}  // namespace

void AddRunCommand(CLI::App& app, Action& action) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run", "Train a job with servers and workers on this machine");
  command->add_option("JOB", options->job, "The job file")->required()->type_name("FILE");
  AddWholeNumber(*command, "--servers", options->servers, 1, kMaxProcesses,
                 "Server processes, each with its share of the parameters");
  AddWholeNumber(*command, "--workers", options->workers, 1, kMaxProcesses, "Worker processes");
  AddWholeNumber(*command, "--threads", options->threads, 1, kMaxThreads,
                 "Compute threads of each worker");
  command->add_flag("--local", options->is_local,
                    "Train in this process, without servers, workers and network; the weights are "
                    "the same to the bit");
  AddOverrides(*command, options->overrides);
  AddOutputFile(*command, "--model-out", options->model_out,
                "Write the trained model here (safetensors)");
  AddOutputFile(*command, "--json", options->json,
                "Write test_accuracy, test_count, steps, seconds, images_per_second and more here");
  command
      ->add_option("--log-dir", options->log_folder,
                   "Keep the logs of the processes in this folder")
      ->type_name("DIR");
  command->footer(
      "The last line of standard output is \"test accuracy: 0.9123\". Ctrl-C ends every process\n"
      "that was started; a second one at once.\n\n"
      "Example: tributary run JOB --servers 2 --workers 2 --set training.max_steps=200");
  command->callback([options, &action] { action = [options] { return Run(*options); }; });
}

}  // namespace tributary
