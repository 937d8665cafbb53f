// tributary-worker: computes gradients for a job until it is done.
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <iostream>
#include <string>

#include "absl/strings/str_cat.h"
#include "common/base/exit_codes.h"
#include "common/base/signals.h"
#include "common/base/stop.h"
#include "common/log/log.h"
#include "common/net/channel.h"
#include "worker/run/run_worker.h"

namespace tributary {
namespace {

constexpr char kExamples[] =
    "The worker gets the job from the coordinator (shard 0's server) and needs the job's data on\n"
    "its own host:\n"
    "  tributary-worker --coordinator host0:7000 --threads 4 --data-dir /data/mnist\n"
    "It waits for the servers, may join at any time, and ends by itself with exit code 0 when the\n"
    "job is done. SIGTERM and SIGINT end it; its work goes to others. Exit codes: 0 done or "
    "stopped,\n"
    "1 the job has failed or a server was lost, 2 usage or bad input (job, data).";

struct Flags {
  std::string coordinator;
  std::string data_dir;
  std::string name;
  int threads = 1;
  double peer_timeout = 60;
};

std::string DefaultName() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host = {'?'};
  return absl::StrCat(host.data(), ":", getpid());
}

void AddFlags(CLI::App& app, Flags& flags) {
  app.add_option("--coordinator", flags.coordinator, "HOST:PORT of shard 0's server")->required();
  app.add_option("--threads", flags.threads,
                 "Compute threads; each computes slots of its own, the weights do not depend on it")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_option("--data-dir", flags.data_dir,
                 "The folder of the data on this host, if not data.dir");
  app.add_option("--name", flags.name, "This worker's name in logs (default: host and process)");
  app.add_option("--peer-timeout", flags.peer_timeout,
                 "Seconds after which a server that was there and is away is given up")
      ->check(CLI::Range(0.1, 86'400.0))
      ->capture_default_str();
  app.footer(kExamples);
  app.set_version_flag("--version", "tributary-worker " TRIBUTARY_VERSION);
}

int Main(int argc, char** argv) {
  Flags flags;
  CLI::App app("Computes gradients for a job.", "tributary-worker");
  AddFlags(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, std::cout, std::cerr) == 0 ? kExitDone : kExitBadInput;
  }
  SetUpLog("worker");
  QuietGrpc();
  if (flags.name.empty()) flags.name = DefaultName();
  absl::Status status = CheckAddress("--coordinator", flags.coordinator, 1);
  StopSource stop;
  const SignalWatcher signals(stop);
  if (status.ok()) {
    status = RunWorker({.coordinator = flags.coordinator,
                        .name = flags.name,
                        .data_dir = flags.data_dir,
                        .threads = flags.threads,
                        .peer_timeout = absl::Seconds(flags.peer_timeout)},
                       stop);
  }
  if (stop.requested()) {
    spdlog::info("ended by signal {}", signals.received());
    return kExitDone;
  }
  if (status.ok()) {
    spdlog::info("the job is done");
    return kExitDone;
  }
  spdlog::error("{}", std::string(status.message()));
  const bool is_input = absl::IsInvalidArgument(status) || absl::IsNotFound(status) ||
                        absl::IsFailedPrecondition(status);
  return is_input ? kExitBadInput : kExitFailed;
}

}  // namespace
}  // namespace tributary

int main(int argc, char** argv) {
  return tributary::Main(argc, argv);
}
