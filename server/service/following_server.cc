#include <spdlog/spdlog.h>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/net/messages.h"
#include "server/service/coordinator_link.h"
#include "server/service/listener.h"
#include "server/service/shard_server.h"
#include "server/service/shard_service.h"

namespace tributary {
namespace {

class FollowingServer final : public ShardServer {
 public:
  explicit FollowingServer(const FollowingOptions& options) : options_(options) {}

  ~FollowingServer() override {
    if (shard_ != nullptr) shard_->Stop(absl::UnavailableError("the server is shutting down"));
  }

  absl::Status Listen() {
    RETURN_IF_ERROR(CheckAddress("--coordinator", options_.coordinator, 1));
    ASSIGN_OR_RETURN(listener_,
                     Listener::Create(options_.listen, options_.advertise, {&shard_service_}));
    return absl::OkStatus();
  }

  const std::string& address() const override { return listener_->address(); }
  Shard* shard() override { return shard_.get(); }

  absl::Status Run(StopSource& stop) override {
    spdlog::info("listening shard={} address={} coordinator={}", options_.shard, address(),
                 options_.coordinator);
    CoordinatorLink link({.address = options_.coordinator, .peer_timeout = options_.peer_timeout},
                         stop);
    absl::Status status = Serve(link);
    if (stop.requested()) return absl::OkStatus();
    if (shard_ != nullptr && !status.ok()) {
      shard_->Stop(absl::AbortedError(status.message()));
    }
    return status;
  }

 private:
  // From the job to its end.
  absl::Status Serve(CoordinatorLink& link) {
    ASSIGN_OR_RETURN(const FetchedJob fetched, link.FetchJob());
    if (fetched.shards != options_.shards || options_.shard >= fetched.shards) {
      return absl::FailedPreconditionError(absl::StrCat(
          "--shards: found ", options_.shards, " (with --shard ", options_.shard,
          "), the coordinator at ", options_.coordinator, " expects ", fetched.shards));
    }
    const Job& job = fetched.job.job;
    shard_ = std::make_unique<Shard>(job, options_.shard, options_.shards, fetched.chunk_elements);
    shard_service_.Serve({.shard = shard_.get(),
                          .number = options_.shard,
                          .identity = fetched.identity,
                          .layout_fingerprint = job.model.layout.fingerprint(),
                          .next_work = nullptr});
    spdlog::info("serving job={} shard={} shards={} elements={}", job.name, options_.shard,
                 options_.shards, shard_->range().size());

    v1::RegisterShardRequest request;
    *request.mutable_header() = MakeHeader(fetched.identity, 0);
    request.set_shard(static_cast<uint32_t>(options_.shard));
    request.set_address(address());
    request.set_layout_fingerprint(job.model.layout.fingerprint());
    request.set_incarnation(NewRandomId());
    while (true) {
      ASSIGN_OR_RETURN(const v1::RegisterShardResponse response, link.NextPhase(request));
      if (response.phase() == v1::PHASE_FAILED) return absl::AbortedError(response.message());
      if (response.has_data()) RETURN_IF_ERROR(BeginOnce(job, response.data()));
      if (response.phase() == v1::PHASE_CLOSED) return absl::OkStatus();
      if (response.phase() == v1::PHASE_WAITING) {
        spdlog::info("registered, waiting for the job to begin");
      }
      request.set_known_phase(response.phase());
    }
  }

  absl::Status BeginOnce(const Job& job, const v1::DataSummary& data_message) {
    if (has_begun_) return absl::OkStatus();
    ASSIGN_OR_RETURN(const DataSummary data, FromProto(data_message));
    if (data.train_samples < 1) {
      return absl::InvalidArgumentError("data.train_samples: found 0, expected at least 1");
    }
    shard_->Begin(BatchPlan(data.train_samples, job.training.global_batch, job.training.slots,
                            job.training.epochs, job.training.max_steps),
                  [](const Shard::StepResult&) {});
    shard_service_.Begin();
    has_begun_ = true;
    return absl::OkStatus();
  }

  const FollowingOptions options_;
  bool has_begun_ = false;
  ShardService shard_service_;
  std::unique_ptr<Shard> shard_;
  std::unique_ptr<Listener> listener_;  // the last: it goes first
};

}  // namespace

absl::StatusOr<std::unique_ptr<ShardServer>> ShardServer::CreateFollowing(
    const FollowingOptions& options) {
  auto server = std::make_unique<FollowingServer>(options);
  RETURN_IF_ERROR(server->Listen());
  return server;
}

}  // namespace tributary
