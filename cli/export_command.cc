// tributary export ADDRESS --out FILE
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/options.h"
#include "cli/report.h"
#include "common/base/status_macros.h"
#include "common/base/stop.h"
#include "common/checkpoint/model_file.h"
#include "common/net/channel.h"
#include "common/net/fetch_job.h"
#include "common/net/parameter_reader.h"

namespace tributary {
namespace {

// A job that trains quickly may complete two steps while its shards are read.
constexpr int kMostTries = 20;
constexpr absl::Duration kPatience = absl::Seconds(5);

struct ExportOptions {
  std::string address;
  std::string out;
};

absl::StatusOr<FetchedJob> Fetch(const std::string& address) {
  const auto coordinator = v1::Coordinator::NewStub(CreateChannel(address));
  StopSource never;
  ASSIGN_OR_RETURN(FetchedJob fetched,
                   tributary::FetchJob(*coordinator,
                                       {.peer = absl::StrCat("the coordinator at ", address),
                                        .call_timeout = kPatience,
                                        .patience = kPatience},
                                       never));
  if (fetched.shard_addresses.empty()) {
    return absl::UnavailableError(
        absl::StrCat("the job at ", address, " still waits for its shards"));
  }
  // What shard 0 advertises may not be for this host.
  fetched.shard_addresses[0] = address;
  return fetched;
}

absl::StatusOr<ParameterSnapshot> Read(const FetchedJob& fetched) {
  std::vector<std::shared_ptr<grpc::Channel>> shards;
  for (const std::string& address : fetched.shard_addresses) {
    shards.push_back(CreateChannel(address));
  }
  absl::StatusOr<ParameterSnapshot> snapshot;
  for (int tries = 0; tries < kMostTries; ++tries) {
    snapshot = ReadParameters(shards, fetched.identity, fetched.job.job.model.layout, std::nullopt);
    if (!absl::IsOutOfRange(snapshot.status())) break;
  }
  return snapshot;
}

int Export(const ExportOptions& options) {
  absl::Status status = CheckAddress("ADDRESS", options.address, 1);
  if (status.ok()) status = CheckOutputFile("--out", options.out);
  if (!status.ok()) return BadInput(status);
  const absl::StatusOr<FetchedJob> fetched = Fetch(options.address);
  if (!fetched.ok()) return Failed(fetched.status().message());
  const absl::StatusOr<ParameterSnapshot> snapshot = Read(*fetched);
  if (!snapshot.ok()) return Failed(snapshot.status().message());
  status = WriteModelFile(options.out, fetched->job, snapshot->version, snapshot->values);
  if (!status.ok()) return Failed(status.message());
  return PrintResult(absl::StrCat("job: ", fetched->job.job.name, "\nstep: ", snapshot->version,
                                  "\nmodel: ", options.out, "\n"));
}

}  // namespace

void AddExportCommand(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Write the model of a job that is running");
  command->add_option("ADDRESS", options->address, "HOST:PORT of shard 0's server")->required();
  AddOutputFile(*command, "--out", options->out, "The file to write (safetensors)")->required();
  command->footer(
      "Training goes on meanwhile.\n\nExample: tributary export host0:7000 --out now.safetensors");
  command->callback([options, &action] { action = [options] { return Export(*options); }; });
}

}  // namespace tributary
