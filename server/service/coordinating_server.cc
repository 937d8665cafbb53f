#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "server/coordinator/job_status.h"
#include "server/service/coordinator_service.h"
#include "server/service/job_end.h"
#include "server/service/listener.h"
#include "server/service/shard_server.h"
#include "server/service/shard_service.h"

namespace tributary {
namespace {

constexpr absl::Duration kGoodbyePoll = absl::Milliseconds(20);

class CoordinatingServer final : public ShardServer {
 public:
  CoordinatingServer(const LoadedJob& job, const CoordinatingOptions& options)
      : job_(job),
        options_(options),
        identity_{NewJobId(), 1},
        shard_(job.job, 0, options.shards, options.chunk_elements),
        coordinator_(job, identity_,
                     {.shards = options.shards, .lease_seconds = options.lease_seconds},
                     options.chunk_elements) {}

  ~CoordinatingServer() override {
    shard_.Stop(absl::UnavailableError("the server is shutting down"));
    coordinator_.EndCalls();
  }

  absl::Status Listen() {
    shard_service_.Serve(
        {.shard = &shard_,
         .number = 0,
         .identity = identity_,
         .layout_fingerprint = job_.job.model.layout.fingerprint(),
         .next_work = [this](SessionId session) { return coordinator_.NextWorkNow(session); }});
    ASSIGN_OR_RETURN(listener_, Listener::Create(options_.listen, options_.advertise,
                                                 {&coordinator_, &shard_service_}));
    return coordinator_.RegisterOwnShard({.shard = 0,
                                          .address = listener_->address(),
                                          .layout_fingerprint = job_.job.model.layout.fingerprint(),
                                          .incarnation = NewRandomId()});
  }

  const std::string& address() const override { return listener_->address(); }
  Shard* shard() override { return &shard_; }

  absl::Status Run(StopSource& stop) override {
    spdlog::info("serving job={} shard=0 shards={} parameters={} address={}", job_.job.name,
                 options_.shards, job_.job.model.layout.parameters(), address());
    const StopSource::Registration on_stop(
        stop, [this] { coordinator_.Fail("the job was stopped: shard 0 got a signal"); });
    Begin();
    coordinator_.Await(
        [](const Coordinator& coordinator) {
          return coordinator.phase() == Phase::kFinished || coordinator.phase() == Phase::kFailed;
        },
        absl::InfiniteDuration());
    absl::Status saved = Save();
    if (saved.ok()) {
      coordinator_.Close();
    } else {
      coordinator_.Fail(std::string(saved.message()));
    }
    SayGoodbye();
    return stop.requested() ? absl::OkStatus() : saved;
  }

 private:
  // Waits for the workers and opens the shard, unless the job fails before.
  void Begin() {
    std::optional<BatchPlan> plan;
    coordinator_.Await(
        [&plan](const Coordinator& coordinator) {
          plan = coordinator.plan();
          return plan.has_value() || coordinator.phase() == Phase::kFailed;
        },
        absl::InfiniteDuration());
    if (!plan.has_value()) return;
    shard_.Begin(*plan, [this](const Shard::StepResult& step) {
      coordinator_.StepCompleted(step.version, step.statistics);
    });
    shard_service_.Begin();
  }

  // The model and the result, or why there are none.
  absl::Status Save() {
    RunResult result;
    std::vector<std::string> addresses;
    std::string failure;
    coordinator_.Read([&](const Coordinator& coordinator) {
      failure = coordinator.failure();
      addresses = coordinator.shard_addresses();
      if (coordinator.phase() == Phase::kFinished) result = MakeRunResult(coordinator);
    });
    if (!failure.empty()) return absl::AbortedError(failure);
    if (!options_.model_out.empty()) {
      std::vector<std::shared_ptr<grpc::Channel>> shards = {listener_->OwnChannel()};
      for (size_t k = 1; k < addresses.size(); ++k) shards.push_back(CreateChannel(addresses[k]));
      RETURN_IF_ERROR(SaveModel(options_.model_out, job_, identity_, shards, result.steps));
      spdlog::info("model written path={} step={}", options_.model_out, result.steps);
    }
    if (!options_.result_json.empty()) RETURN_IF_ERROR(SaveResult(options_.result_json, result));
    return absl::OkStatus();
  }

  // Until every shard and worker has heard how it ended; not for ever.
  void SayGoodbye() {
    std::string failure;
    coordinator_.Read(
        [&failure](const Coordinator& coordinator) { failure = coordinator.failure(); });
    if (!failure.empty()) shard_.Stop(absl::AbortedError(failure));
    const absl::Time deadline = absl::Now() + options_.goodbye_patience;
    while (absl::Now() < deadline) {
      const bool workers_left = coordinator_.Await(
          [](const Coordinator& coordinator) { return coordinator.workers() == 0; }, kGoodbyePoll);
      if (workers_left && coordinator_.EveryShardKnowsPhase()) return;
      if (workers_left) absl::SleepFor(kGoodbyePoll);
    }
  }

  const LoadedJob job_;
  const CoordinatingOptions options_;
  const JobIdentity identity_;
  Shard shard_;
  CoordinatorService coordinator_;
  ShardService shard_service_;
  std::unique_ptr<Listener> listener_;  // the last: it goes first
};

}  // namespace

absl::StatusOr<std::unique_ptr<ShardServer>> ShardServer::CreateCoordinating(
    const LoadedJob& job, const CoordinatingOptions& options) {
  auto server = std::make_unique<CoordinatingServer>(job, options);
  RETURN_IF_ERROR(server->Listen());
  return server;
}

}  // namespace tributary
