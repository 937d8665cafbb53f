#include "server/service/coordinator_service.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "common/base/status_macros.h"
#include "common/net/channel.h"
#include "common/net/grpc_status.h"
#include "common/net/messages.h"
#include "server/coordinator/job_status.h"

namespace tributary {
namespace {

// A waiting call is answered after this long at the latest, so that both sides know of each other.
constexpr double kLongPollSeconds = 2;
// A waiting shard is heard of this often within a lease.
constexpr double kPollsPerLease = 3;
constexpr absl::Duration kTickInterval = absl::Milliseconds(100);
constexpr double kWaitingLogSeconds = 10;
constexpr size_t kMostNameBytes = 128;

double NowSeconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

// A peer's text in a log line: bounded, printable.
std::string ForLog(const std::string& text) {
  return absl::CHexEscape(text.substr(0, kMostNameBytes));
}

grpc::Status EndingStatus() {
  return {grpc::StatusCode::UNAVAILABLE, "the server is shutting down"};
}

absl::string_view PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kWaiting:
      return "waiting";
    case Phase::kTraining:
      return "training";
    case Phase::kEvaluating:
      return "evaluating";
    case Phase::kFinished:
      return "finished";
    case Phase::kClosed:
      return "closed";
    case Phase::kFailed:
      return "failed";
  }
  return "";
}

absl::StatusOr<Coordinator::WorkerHello> HelloOf(const v1::JoinJobRequest& request) {
  Coordinator::WorkerHello hello;
  hello.session = request.header().session();
  hello.name = ForLog(request.name());
  hello.layout_fingerprint = request.layout_fingerprint();
  ASSIGN_OR_RETURN(hello.data, FromProto(request.data()));
  return hello;
}

}  // namespace

CoordinatorService::CoordinatorService(const LoadedJob& job, const JobIdentity& identity,
                                       const Coordinator::Options& options, int64_t chunk_elements)
    : job_(job),
      identity_(identity),
      options_(options),
      chunk_elements_(chunk_elements),
      long_poll_seconds_(std::min(kLongPollSeconds, options.lease_seconds / kPollsPerLease)),
      coordinator_(job.job, options),
      phase_known_by_shard_(static_cast<size_t>(options.shards), Phase::kWaiting),
      ticker_([this] { Tick(); }) {}

CoordinatorService::~CoordinatorService() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  ticker_.join();
}

void CoordinatorService::Tick() {
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&stopping_), kTickInterval)) return;
    }
    Turn([this](double now, FinishedCalls&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      for (const std::string& name : coordinator_.Tick(now)) {
        log_lines_.push_back(absl::StrCat("worker lost name=", name,
                                          " lease_seconds=", options_.lease_seconds,
                                          " workers=", coordinator_.workers()));
      }
    });
  }
}

void CoordinatorService::Turn(
    absl::FunctionRef<void(double now_seconds, FinishedCalls& finished)> action) {
  FinishedCalls finished;
  std::vector<std::string> lines;
  {
    absl::MutexLock lock(&mutex_);
    const double now = NowSeconds();
    action(now, finished);
    parked_.AskAgain(now, finished);
    LogChanges();
    lines.swap(log_lines_);
  }
  finished.Finish();
  for (const std::string& line : lines) spdlog::info("{}", line);
}

void CoordinatorService::LogChanges() {
  const Phase phase = coordinator_.phase();
  for (; logged_evaluations_ < coordinator_.evaluations().size(); ++logged_evaluations_) {
    const EvaluationSummary& test = coordinator_.evaluations()[logged_evaluations_];
    log_lines_.push_back(absl::StrCat("evaluated step=", test.version, " correct=",
                                      test.statistics.correct, " count=", test.statistics.samples));
  }
  if (phase != logged_phase_ && phase != Phase::kEvaluating &&
      !(phase == Phase::kTraining && logged_phase_ == Phase::kEvaluating)) {
    log_lines_.push_back(
        absl::StrCat("job is ", PhaseName(phase), " step=", coordinator_.version()));
  }
  logged_phase_ = phase;
  const double now = NowSeconds();
  std::string waiting_for = coordinator_.WaitingFor();
  if (!waiting_for.empty() &&
      (waiting_for != logged_waiting_for_ || now - logged_waiting_seconds_ >= kWaitingLogSeconds)) {
    log_lines_.push_back(absl::StrCat("waiting for ", waiting_for));
    logged_waiting_seconds_ = now;
  }
  logged_waiting_for_ = std::move(waiting_for);
}

template <typename Action>
grpc::ServerUnaryReactor* CoordinatorService::Answer(grpc::CallbackServerContext* context,
                                                     const v1::CallHeader& header,
                                                     const Action& action) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  absl::Status status = CheckHeader(header, identity_);
  if (status.ok()) {
    Turn([&](double now, FinishedCalls&)
             ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { status = action(now); });
  }
  reactor->Finish(ToGrpcStatus(status));
  return reactor;
}

grpc::ServerUnaryReactor* CoordinatorService::GetJob(grpc::CallbackServerContext* context,
                                                     const v1::GetJobRequest* request,
                                                     v1::GetJobResponse* response) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  if (request->protocol_version() != kProtocolVersion) {
    reactor->Finish(
        {grpc::StatusCode::FAILED_PRECONDITION,
         absl::StrCat("protocol_version: found ", request->protocol_version(), ", expected ",
                      kProtocolVersion, ": the peer is another version of the program")});
    return reactor;
  }
  response->set_job_id(identity_.job_id);
  response->set_generation(identity_.generation);
  *response->mutable_job() = job_.spec;
  response->set_shards(static_cast<uint32_t>(options_.shards));
  response->set_protocol_version(kProtocolVersion);
  response->set_chunk_elements(static_cast<uint64_t>(chunk_elements_));
  Read([response](const Coordinator& coordinator) {
    if (!coordinator.AllShardsRegistered()) return;
    for (const std::string& address : coordinator.shard_addresses()) {
      response->add_shard_address(address);
    }
  });
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

grpc::ServerUnaryReactor* CoordinatorService::RegisterShard(grpc::CallbackServerContext* context,
                                                            const v1::RegisterShardRequest* request,
                                                            v1::RegisterShardResponse* response) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  absl::Status status = CheckHeader(request->header(), identity_);
  if (status.ok()) status = CheckAddress("address", request->address(), 1);
  if (status.ok() && request->shard() == 0) {
    status = absl::InvalidArgumentError("shard: found 0, which is in the coordinator's process");
  }
  const auto answer = [this, request, response](bool is_last)
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) -> std::optional<grpc::Status> {
    const v1::Phase phase = ToProto(coordinator_.phase());
    if (phase == request->known_phase() && !is_last && !calls_ended_) return std::nullopt;
    response->set_phase(phase);
    response->set_message(ForLog(coordinator_.failure()));
    if (coordinator_.plan().has_value()) *response->mutable_data() = ToProto(*coordinator_.data());
    phase_known_by_shard_[request->shard()] = coordinator_.phase();
    return grpc::Status::OK;
  };
  Turn([&](double now, FinishedCalls& finished) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (status.ok()) {
      status = coordinator_.RegisterShard(
          {.shard = static_cast<ShardId>(std::min<uint32_t>(request->shard(), INT32_MAX)),
           .address = request->address(),
           .layout_fingerprint = request->layout_fingerprint(),
           .incarnation = request->incarnation()},
          now);
    }
    if (!status.ok()) {
      finished.Add(reactor, ToGrpcStatus(status));
    } else {
      parked_.AnswerOrPark(reactor, now + long_poll_seconds_, answer, finished);
    }
  });
  return reactor;
}

grpc::ServerUnaryReactor* CoordinatorService::JoinJob(grpc::CallbackServerContext* context,
                                                      const v1::JoinJobRequest* request,
                                                      v1::JoinJobResponse* response) {
  return Answer(context, request->header(),
                [&](double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) -> absl::Status {
                  ASSIGN_OR_RETURN(const Coordinator::WorkerHello hello, HelloOf(*request));
                  const int64_t workers = coordinator_.workers();
                  RETURN_IF_ERROR(coordinator_.Join(hello, now));
                  if (coordinator_.workers() > workers) {
                    log_lines_.push_back(absl::StrCat("worker joined name=", hello.name,
                                                      " workers=", coordinator_.workers()));
                  }
                  if (coordinator_.phase() == Phase::kWaiting) {
                    response->set_waiting_for(coordinator_.WaitingFor());
                  }
                  if (coordinator_.AllShardsRegistered()) {
                    for (const std::string& address : coordinator_.shard_addresses()) {
                      response->add_shard_address(address);
                    }
                  }
                  response->set_lease_seconds(options_.lease_seconds);
                  response->set_chunk_elements(static_cast<uint64_t>(chunk_elements_));
                  return absl::OkStatus();
                });
}

grpc::ServerUnaryReactor* CoordinatorService::NextWork(grpc::CallbackServerContext* context,
                                                       const v1::NextWorkRequest* request,
                                                       v1::NextWorkResponse* response) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  absl::Status status = CheckHeader(request->header(), identity_);
  const auto answer = [this, request, response](bool is_last)
                          ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) -> std::optional<grpc::Status> {
    if (calls_ended_) return EndingStatus();
    const absl::StatusOr<Work> work =
        coordinator_.NextWork(request->header().session(), NowSeconds());
    if (!work.ok()) return ToGrpcStatus(work.status());
    if (std::holds_alternative<WaitOrder>(*work) && !is_last) return std::nullopt;
    *response->mutable_work() = ToProto(*work);
    return grpc::Status::OK;
  };
  Turn([&](double now, FinishedCalls& finished) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const v1::EvaluationResult& result : request->result()) {
      const absl::StatusOr<EvaluationResult> checked = FromProto(result);
      if (status.ok()) status = checked.status();
      if (status.ok()) status = coordinator_.ReportEvaluation(*checked, now);
    }
    if (!status.ok()) {
      finished.Add(reactor, ToGrpcStatus(status));
    } else {
      parked_.AnswerOrPark(reactor, now + long_poll_seconds_, answer, finished);
    }
  });
  return reactor;
}

grpc::ServerUnaryReactor* CoordinatorService::RenewLease(grpc::CallbackServerContext* context,
                                                         const v1::RenewLeaseRequest* request,
                                                         v1::RenewLeaseResponse* response) {
  return Answer(context, request->header(),
                [&](double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) -> absl::Status {
                  ASSIGN_OR_RETURN(const std::vector<ComputeOrder> extra,
                                   coordinator_.Renew(request->header().session(), now));
                  for (const ComputeOrder& order : extra) *response->add_extra() = ToProto(order);
                  response->set_phase(ToProto(coordinator_.phase()));
                  return absl::OkStatus();
                });
}

grpc::ServerUnaryReactor* CoordinatorService::LeaveJob(grpc::CallbackServerContext* context,
                                                       const v1::LeaveJobRequest* request,
                                                       v1::LeaveJobResponse*) {
  return Answer(context, request->header(), [&](double now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const int64_t workers = coordinator_.workers();
    coordinator_.Leave(request->header().session(), now);
    if (coordinator_.workers() < workers) {
      log_lines_.push_back(
          absl::StrCat("worker left workers=", coordinator_.workers(),
                       request->error().empty() ? "" : " error=", ForLog(request->error())));
    }
    return absl::OkStatus();
  });
}

grpc::ServerUnaryReactor* CoordinatorService::GetStatus(grpc::CallbackServerContext* context,
                                                        const v1::GetStatusRequest*,
                                                        v1::JobStatus* response) {
  Read([&](const Coordinator& coordinator) {
    *response = MakeJobStatus(coordinator, job_.job, options_.shards);
  });
  response->set_job_id(identity_.job_id);
  response->set_generation(identity_.generation);
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  reactor->Finish(grpc::Status::OK);
  return reactor;
}

absl::Status CoordinatorService::RegisterOwnShard(const Coordinator::ShardHello& hello) {
  absl::Status status;
  Turn([&](double now, FinishedCalls&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    status = coordinator_.RegisterShard(hello, now);
  });
  return status;
}

void CoordinatorService::StepCompleted(Version version, const BatchStatistics& statistics) {
  Turn([&](double now, FinishedCalls&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    coordinator_.StepCompleted(version, statistics, now);
    if (statistics.not_finite) {
      log_lines_.push_back(
          absl::StrCat("step left out: a gradient is not finite step=", version - 1));
    }
  });
}

absl::StatusOr<Work> CoordinatorService::NextWorkNow(SessionId session) {
  absl::StatusOr<Work> work;
  Turn([&](double now, FinishedCalls&)
           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { work = coordinator_.NextWork(session, now); });
  return work;
}

void CoordinatorService::Fail(const std::string& why) {
  Turn([&](double, FinishedCalls&)
           ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { coordinator_.Fail(why); });
}

void CoordinatorService::Close() {
  Turn([&](double, FinishedCalls&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { coordinator_.Close(); });
}

void CoordinatorService::Read(absl::FunctionRef<void(const Coordinator&)> look) const {
  absl::MutexLock lock(&mutex_);
  look(coordinator_);
}

bool CoordinatorService::Await(absl::FunctionRef<bool(const Coordinator&)> condition,
                               absl::Duration timeout) const {
  const auto holds = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return condition(coordinator_); };
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&holds), timeout);
}

void CoordinatorService::EndCalls() {
  Turn([&](double, FinishedCalls&) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { calls_ended_ = true; });
}

bool CoordinatorService::EveryShardKnowsPhase() const {
  absl::MutexLock lock(&mutex_);
  const std::vector<std::string> addresses = coordinator_.shard_addresses();
  for (size_t shard = 1; shard < phase_known_by_shard_.size(); ++shard) {
    const bool is_registered = !addresses[shard].empty();
    if (is_registered && phase_known_by_shard_[shard] != coordinator_.phase()) return false;
  }
  return true;
}

}  // namespace tributary
