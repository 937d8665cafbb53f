#include "cli/local_run.h"

#include <memory>
#include <thread>

#include "absl/time/time.h"
#include "cli/local_client.h"
#include "common/base/status_macros.h"
#include "common/base/stop.h"
#include "common/checkpoint/model_file.h"
#include "worker/compute/cpu/cpu_network.h"
#include "worker/data/dataset.h"
#include "worker/trainer/trainer.h"

namespace tributary {
namespace {

constexpr absl::Duration kProgressInterval = absl::Milliseconds(250);

absl::Status Train(const Job& job, const Dataset& dataset, int threads, LocalClient& client) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                   Trainer::Create(job, dataset, threads, CreateCpuNetwork, client));
  RETURN_IF_ERROR(client.Begin({.train_samples = dataset.train.samples(),
                                .test_samples = dataset.test.samples(),
                                .fingerprint = dataset.fingerprint}));
  return trainer->Run();
}

}  // namespace

absl::StatusOr<RunResult> RunLocally(const LoadedJob& loaded, const LocalRunOptions& options) {
  Job job = loaded.job;
  if (!options.data_dir.empty()) job.data.dir = options.data_dir;
  ASSIGN_OR_RETURN(const Dataset dataset, LoadDataset(job.data, job.model.model.input, job.seed));

  LocalClient client(job, options.cancelled);
  StopSource done;
  std::thread progress([&] {
    while (!done.WaitFor(kProgressInterval)) {
      if (options.progress) options.progress(client.Status());
    }
  });
  const absl::Status status = Train(job, dataset, options.threads, client);
  done.Request();
  progress.join();
  RETURN_IF_ERROR(status);
  if (options.progress) options.progress(client.Status());
  if (!options.model_out.empty()) {
    const ParameterVersion parameters = client.Parameters();
    RETURN_IF_ERROR(
        WriteModelFile(options.model_out, loaded, parameters.version, parameters.buffer->values));
  }
  return client.Result();
}

}  // namespace tributary
