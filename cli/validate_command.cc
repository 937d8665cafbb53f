// tributary validate JOB
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/commands.h"
#include "cli/number_text.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/validate.h"
#include "common/job/job_file.h"
#include "worker/data/dataset.h"

namespace tributary {
namespace {

struct ValidateOptions {
  std::string job;
  std::vector<std::string> overrides;
  bool is_data_skipped = false;
};

int Validate(const ValidateOptions& options) {
  const absl::StatusOr<LoadedJob> loaded = LoadJobFile(options.job, options.overrides);
  if (!loaded.ok()) return BadInput(loaded.status());
  const Job& job = loaded->job;
  if (options.is_data_skipped) return PrintResult(DescribeJob(job));
  const absl::StatusOr<Dataset> data = LoadDataset(job.data, job.model.model.input, job.seed);
  if (!data.ok()) return BadInput(data.status());
  return PrintResult(absl::StrCat(DescribeJob(job, data->train.samples()), "\n",
                                  "data: ", Counted(data->train.samples(), "training image"), ", ",
                                  Counted(data->test.samples(), "test image"),
                                  ", every one of them checked\n"));
}

}  // namespace

void AddValidateCommand(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      app.add_subcommand("validate", "Check a job file and its data; print the model and the plan");
  command->add_option("JOB", options->job, "The job file")->required()->type_name("FILE");
  AddOverrides(*command, options->overrides);
  command->add_flag("--skip-data", options->is_data_skipped,
                    "Do not look for the data: they are on other machines");
  command->callback([options, &action] { action = [options] { return Validate(*options); }; });
}

}  // namespace tributary
