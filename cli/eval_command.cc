// tributary eval MODEL.safetensors
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/text_format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/commands.h"
#include "cli/evaluation.h"
#include "cli/files.h"
#include "cli/options.h"
#include "cli/report.h"
#include "common/base/status_macros.h"
#include "common/checkpoint/model_file.h"
#include "common/formats/safetensors.h"
#include "common/job/job_file.h"
#include "common/job/overrides.h"

namespace tributary {
namespace {

struct EvalOptions {
  std::string model;
  std::string job;
  std::vector<std::string> overrides;
  int threads = 1;
  std::string json;
  std::string logits;
};

// All that an evaluation needs, read and checked.
struct CheckedEval {
  Job job;
  std::vector<float> parameters;
  Dataset data;
};

// The first error of a parse alone.
class FirstError : public google::protobuf::io::ErrorCollector {
 public:
  void AddError(int line, google::protobuf::io::ColumnNumber, const std::string& message) override {
    if (text_.empty()) text_ = absl::StrCat("line ", line + 1, ": ", message);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

absl::StatusOr<Job> JobOfModel(const LoadedSafetensors& model, const EvalOptions& options) {
  const auto text = model.metadata.find(kModelFileJobKey);
  if (text == model.metadata.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.model, ": metadata: found no ", kModelFileJobKey,
                     ", allowed a model file of this program, or any other with --job FILE"));
  }
  const std::string place = absl::StrCat(options.model, ": metadata: ", kModelFileJobKey, ": ");
  v1::JobSpec spec;
  FirstError error;
  google::protobuf::TextFormat::Parser parser;
  parser.RecordErrorsTo(&error);
  if (!parser.ParseFromString(text->second, &spec)) {
    return absl::InvalidArgumentError(absl::StrCat(place, error.text()));
  }
  for (const std::string& override : options.overrides) {
    ASSIGN_OR_RETURN(const Override change, ParseOverride(override));
    RETURN_IF_ERROR(ApplyOverride(change, spec));
  }
  absl::StatusOr<Job> job = JobFromSpec(spec);
  if (!job.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(place, job.status().message()));
  }
  return job;
}

absl::StatusOr<CheckedEval> CheckEval(const EvalOptions& options) {
  RETURN_IF_ERROR(CheckOutputFile("--json", options.json));
  RETURN_IF_ERROR(CheckOutputFile("--logits", options.logits));
  CheckedEval eval;
  ASSIGN_OR_RETURN(const LoadedSafetensors model, ReadSafetensors(options.model));
  if (options.job.empty()) {
    ASSIGN_OR_RETURN(eval.job, JobOfModel(model, options));
  } else {
    ASSIGN_OR_RETURN(LoadedJob loaded, LoadJobFile(options.job, options.overrides));
    eval.job = std::move(loaded.job);
  }
  ASSIGN_OR_RETURN(eval.parameters, FlattenModel(model, eval.job.model.layout, options.model));
  ASSIGN_OR_RETURN(eval.data,
                   LoadTestSet(eval.job.data, eval.job.model.model.input, eval.job.seed));
  return eval;
}

absl::Status WriteEvalJson(const std::string& path, double accuracy, double loss,
                           const BatchStatistics& statistics) {
  if (path.empty()) return absl::OkStatus();
  const nlohmann::ordered_json json = {{"test_accuracy", accuracy},
                                       {"test_count", statistics.samples},
                                       {"test_correct", statistics.correct},
                                       {"test_loss", loss}};
  return WriteFile(path, json.dump(2) + "\n");
}

int Eval(const EvalOptions& options) {
  const absl::StatusOr<CheckedEval> eval = CheckEval(options);
  if (!eval.ok()) return BadInput(eval.status());
  std::vector<float> logits;
  const absl::StatusOr<BatchStatistics> statistics =
      EvaluateModel(eval->job, eval->parameters, eval->data.test, options.threads,
                    options.logits.empty() ? nullptr : &logits);
  if (!statistics.ok()) return Failed(statistics.status().message());

  const auto samples = static_cast<double>(statistics->samples);
  const double accuracy = static_cast<double>(statistics->correct) / samples;
  const double loss = statistics->loss_sum / samples;
  absl::Status written = WriteEvalJson(options.json, accuracy, loss, *statistics);
  if (written.ok() && !options.logits.empty()) {
    const NamedArray array{"logits", {statistics->samples, eval->job.model.classes}, logits};
    written = WriteSafetensors(options.logits, {array}, {});
  }
  if (!written.ok()) return Failed(written.message());
  return PrintResult(
      absl::StrFormat("test images: %d, %d of them right\ntest loss: %.4f\ntest accuracy: %.4f\n",
                      statistics->samples, statistics->correct, loss, accuracy));
}

}  // namespace

void AddEvalCommand(CLI::App& app, Action& action) {
  const auto options = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "Evaluate a model file on the test set");
  command->add_option("MODEL", options->model, "The model file (safetensors)")
      ->required()
      ->type_name("FILE");
  command->add_option("--job", options->job, "The job file; default: the job in the model file")
      ->type_name("FILE");
  AddOverrides(*command, options->overrides);
  AddWholeNumber(*command, "--threads", options->threads, 1, kMaxThreads, "Compute threads");
  AddOutputFile(*command, "--json", options->json,
                "Write test_accuracy, test_count, test_correct, test_loss here");
  AddOutputFile(*command, "--logits", options->logits,
                "Write the network's outputs here (safetensors, \"logits\" [images, classes])");
  command->footer(
      "The last line of standard output is \"test accuracy: 0.9123\".\n\n"
      "Example: tributary eval model.safetensors --set data.dir=/data/mnist");
  command->callback([options, &action] { action = [options] { return Eval(*options); }; });
}

}  // namespace tributary
