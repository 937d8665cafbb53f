#include "tests/support/cluster.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "absl/strings/str_cat.h"
#include "cli/local_client.h"
#include "common/base/status_macros.h"
#include "common/base/stop.h"
#include "server/service/shard_server.h"
#include "worker/compute/cpu/cpu_network.h"
#include "worker/data/dataset.h"
#include "worker/run/run_worker.h"
#include "worker/trainer/trainer.h"

namespace tributary {
namespace {

void Append(const ParameterVersion& parameters, const std::vector<Optimizer::State>& optimizer,
            TrainedState& state) {
  state.version = parameters.version;
  state.parameters.insert(state.parameters.end(), parameters.buffer->values.begin(),
                          parameters.buffer->values.end());
  for (const Optimizer::State& array : optimizer) {
    std::vector<float>& values = state.optimizer[array.name];
    values.insert(values.end(), array.values.begin(), array.values.end());
  }
}

}  // namespace

absl::StatusOr<TrainedState> TrainInCluster(const LoadedJob& loaded, const ClusterShape& shape) {
  spdlog::set_level(spdlog::level::warn);
  // Everybody takes part from the first step on.
  LoadedJob job = loaded;
  const int workers = std::min(shape.workers, job.job.training.slots);
  job.job.training.min_workers = workers;
  job.spec.mutable_training()->set_min_workers(static_cast<uint32_t>(workers));
  ShardServer::CoordinatingOptions first;
  first.shards = shape.servers;
  first.chunk_elements = shape.chunk_elements;
  std::vector<std::unique_ptr<ShardServer>> servers(static_cast<size_t>(shape.servers));
  ASSIGN_OR_RETURN(servers[0], ShardServer::CreateCoordinating(job, first));
  for (int k = 1; k < shape.servers; ++k) {
    ShardServer::FollowingOptions options;
    options.shards = shape.servers;
    options.shard = k;
    options.coordinator = servers[0]->address();
    ASSIGN_OR_RETURN(servers[static_cast<size_t>(k)], ShardServer::CreateFollowing(options));
  }

  StopSource stop;
  std::vector<absl::Status> statuses(static_cast<size_t>(shape.servers + shape.workers));
  std::vector<std::thread> threads;
  for (size_t k = 0; k < servers.size(); ++k) {
    threads.emplace_back([&, k] { statuses[k] = servers[k]->Run(stop); });
  }
  for (int w = 0; w < shape.workers; ++w) {
    threads.emplace_back([&, w] {
      statuses[servers.size() + static_cast<size_t>(w)] =
          RunWorker({.coordinator = servers[0]->address(),
                     .name = absl::StrCat("worker ", w),
                     .data_dir = "",
                     .threads = shape.threads},
                    stop);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : statuses) RETURN_IF_ERROR(status);

  TrainedState state;
  for (const std::unique_ptr<ShardServer>& server : servers) {
    ASSIGN_OR_RETURN(const ParameterVersion parameters, server->shard()->Get(std::nullopt));
    Append(parameters, server->shard()->optimizer_state(), state);
  }
  return state;
}

absl::StatusOr<TrainedState> TrainLocally(const LoadedJob& job, int threads) {
  ASSIGN_OR_RETURN(const Dataset dataset,
                   LoadDataset(job.job.data, job.job.model.model.input, job.job.seed));
  LocalClient client(job.job, nullptr);
  ASSIGN_OR_RETURN(const std::unique_ptr<Trainer> trainer,
                   Trainer::Create(job.job, dataset, threads, CreateCpuNetwork, client));
  RETURN_IF_ERROR(client.Begin({.train_samples = dataset.train.samples(),
                                .test_samples = dataset.test.samples(),
                                .fingerprint = dataset.fingerprint}));
  RETURN_IF_ERROR(trainer->Run());
  TrainedState state;
  Append(client.Parameters(), client.optimizer_state(), state);
  return state;
}

}  // namespace tributary
