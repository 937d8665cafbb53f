// tributary-server: one shard of a job's parameters; shard 0 is the coordinator too.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/exit_codes.h"
#include "common/base/signals.h"
#include "common/base/status_macros.h"
#include "common/base/stop.h"
#include "common/job/job_file.h"
#include "common/log/log.h"
#include "common/net/channel.h"
#include "server/service/job_end.h"
#include "server/service/shard_server.h"

namespace tributary {
namespace {

struct Flags {
  int shard = 0;
  int shards = 1;
  std::string listen = "0.0.0.0:7000";
  std::string advertise;
  std::string address_file;
  std::string coordinator;
  std::string job;
  std::vector<std::string> overrides;
  std::string model_out;
  std::string result_json;
  double lease = 10;
  double peer_timeout = 60;
};

constexpr char kExamples[] =
    "Shard 0 is given the job and tells it to everyone else:\n"
    "  tributary-server --shard 0 --shards 2 --listen 0.0.0.0:7000 --job mnist.textproto \\\n"
    "                   --model-out mnist.safetensors\n"
    "  tributary-server --shard 1 --shards 2 --listen 0.0.0.0:7000 --coordinator host0:7000\n"
    "  tributary-worker --coordinator host0:7000\n"
    "In any order; all of them end by themselves with exit code 0 when the job is done. SIGTERM "
    "and\n"
    "SIGINT end a server, and with it the job. Exit codes: 0 done or stopped, 1 the job has "
    "failed\n"
    "or a peer was lost, 2 usage or bad input.";

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_option("--shard", flags.shard, "Which shard this is, from 0")
      ->check(CLI::Range(0, 65'535))
      ->capture_default_str();
  app.add_option("--shards", flags.shards, "Shards in all")
      ->check(CLI::Range(1, 65'536))
      ->capture_default_str();
  app.add_option("--listen", flags.listen, "HOST:PORT to listen on; port 0: any that is free")
      ->capture_default_str();
  app.add_option("--advertise", flags.advertise,
                 "HOST:PORT that peers are told (default: as --listen, or this machine's name)");
  app.add_option("--address-file", flags.address_file,
                 "Write the address that peers are told to this file once it is listened on");
  app.add_option("--coordinator", flags.coordinator, "HOST:PORT of shard 0; for the other shards");
  app.add_option("--job", flags.job, "The job file; for shard 0")->type_name("FILE");
  app.add_option("--set", flags.overrides,
                 "Change a field of the job, as training.epochs=3; may be repeated; for shard 0")
      ->allow_extra_args(false);
  app.add_option("--model-out", flags.model_out,
                 "Write the trained model here (safetensors); for shard 0");
  app.add_option("--result-json", flags.result_json, "Write the result here; for shard 0");
  app.add_option("--lease", flags.lease,
                 "Seconds after which a silent worker loses its slots; for shard 0")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--peer-timeout", flags.peer_timeout,
                 "Seconds after which a coordinator that is away is given up; for other shards")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
  app.footer(kExamples);
  app.set_version_flag("--version", "tributary-server " TRIBUTARY_VERSION);
}

absl::Status CheckFlags(const Flags& flags) {
  if (flags.shard >= flags.shards) {
    return absl::InvalidArgumentError(absl::StrCat("--shard: found ", flags.shard,
                                                   ", allowed 0 to ", flags.shards - 1,
                                                   " (--shards ", flags.shards, ")"));
  }
  const bool is_first = flags.shard == 0;
  if (is_first && flags.job.empty()) {
    return absl::InvalidArgumentError("--job: is missing; shard 0 needs the job file");
  }
  if (is_first && !flags.coordinator.empty()) {
    return absl::InvalidArgumentError("--coordinator: shard 0 is the coordinator itself");
  }
  if (is_first) return absl::OkStatus();
  if (flags.coordinator.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--coordinator: is missing; shard ", flags.shard, " gets the job from there"));
  }
  if (!flags.job.empty() || !flags.overrides.empty() || !flags.model_out.empty() ||
      !flags.result_json.empty()) {
    return absl::InvalidArgumentError(
        "--job, --set, --model-out, --result-json: for shard 0 alone");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<ShardServer>> CreateServer(const Flags& flags) {
  RETURN_IF_ERROR(CheckFlags(flags));
  const ShardServer::Options common{
      .shards = flags.shards, .listen = flags.listen, .advertise = flags.advertise};
  if (flags.shard > 0) {
    return ShardServer::CreateFollowing(
        {common, flags.shard, flags.coordinator, absl::Seconds(flags.peer_timeout)});
  }
  ASSIGN_OR_RETURN(const LoadedJob job, LoadJobFile(flags.job, flags.overrides));
  ShardServer::CoordinatingOptions options;
  static_cast<ShardServer::Options&>(options) = common;
  options.model_out = flags.model_out;
  options.result_json = flags.result_json;
  options.lease_seconds = flags.lease;
  return ShardServer::CreateCoordinating(job, options);
}

int ExitCode(const absl::Status& status) {
  if (status.ok()) return kExitDone;
  spdlog::error("{}", std::string(status.message()));
  const bool is_input = absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                        absl::IsFailedPrecondition(status);
  return is_input ? kExitBadInput : kExitFailed;
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Serves one shard of a job's parameters.", "tributary-server");
  AddFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? kExitDone : kExitBadInput;
  }
  SetUpLog(absl::StrCat("server-", flags.shard));
  QuietGrpc();
  StopSource stop;
  const SignalWatcher signals(stop);
  absl::StatusOr<std::unique_ptr<ShardServer>> server = CreateServer(flags);
  if (!server.ok()) return ExitCode(server.status());
  if (!flags.address_file.empty()) {
    const absl::Status saved = SaveLine(flags.address_file, (*server)->address());
    if (!saved.ok()) return ExitCode(saved);
  }
  const absl::Status status = (*server)->Run(stop);
  if (signals.received() != 0) spdlog::info("ended by signal {}", signals.received());
  return ExitCode(status);
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  return tributary::Main(argc, argv);
}
