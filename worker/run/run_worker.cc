#include "worker/run/run_worker.h"

#include <spdlog/spdlog.h>

#include <memory>

#include "absl/cleanup/cleanup.h"
#include "common/base/status_macros.h"
#include "worker/compute/cpu/cpu_network.h"
#include "worker/data/dataset.h"
#include "worker/ps_client/grpc_parameter_client.h"
#include "worker/trainer/trainer.h"

namespace tributary {
namespace {

absl::Status Train(const WorkerOptions& options, JobSession& session) {
  RETURN_IF_ERROR(session.FetchJob());
  Job job = session.fetched().job.job;
  spdlog::info("has the job name={} shards={}", job.name, session.fetched().shards);
  if (!options.data_dir.empty()) job.data.dir = options.data_dir;
  ASSIGN_OR_RETURN(const Dataset dataset, LoadDataset(job.data, job.model.model.input, job.seed));

  GrpcParameterClient client(session);
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                   Trainer::Create(job, dataset, options.threads, CreateCpuNetwork, client));
  // Nothing is adopted once this function ends: before the trainer goes.
  const auto close = absl::MakeCleanup([&session] { session.Close(); });
  RETURN_IF_ERROR(client.Connect(
      {.train_samples = dataset.train.samples(),
       .test_samples = dataset.test.samples(),
       .fingerprint = dataset.fingerprint},
      [&trainer = *trainer](const std::vector<ComputeOrder>& orders) { trainer.Adopt(orders); }));
  spdlog::info("training");
  return trainer->Run();
}

}  // namespace

absl::Status RunWorker(const WorkerOptions& options, StopSource& stop) {
  JobSession session({.coordinator = options.coordinator,
                      .name = options.name,
                      .peer_timeout = options.peer_timeout});
  const StopSource::Registration on_stop(
      stop, [&session] { session.End(absl::CancelledError("asked to stop")); });
  absl::Status status = Train(options, session);
  if (session.has_job()) {
    session.Leave(status.ok() || stop.requested() ? "" : std::string(status.message()));
  }
  return status;
}

}  // namespace tributary
