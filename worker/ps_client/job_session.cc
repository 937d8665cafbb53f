#include "worker/ps_client/job_session.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/net/channel.h"
#include "common/net/grpc_status.h"
#include "common/net/messages.h"
#include "common/net/retry.h"

namespace tributary {
namespace {

constexpr absl::Duration kJoinInterval = absl::Milliseconds(100);
constexpr absl::Duration kShortestLease = absl::Milliseconds(30);
constexpr absl::Duration kLongestLease = absl::Hours(24);
constexpr std::chrono::seconds kLeaveTimeout(2);

// FAILED_PRECONDITION on a call of a member: its lease ran out. A refusal for another reason comes
// back when it joins again.
bool IsLostLease(const absl::Status& status) {
  return absl::IsFailedPrecondition(status);
}

}  // namespace

JobSession::JobSession(const Options& options)
    : options_(options),
      id_(NewRandomId()),
      channel_(CreateChannel(options.coordinator)),
      stub_(v1::Coordinator::NewStub(channel_)) {}

JobSession::~JobSession() {
  Close();
}

void JobSession::Close() {
  End(absl::CancelledError("the session is over"));
  if (lease_thread_.joinable()) lease_thread_.join();
}

RetryOptions JobSession::Patience(absl::Duration patience) const {
  return {.peer = absl::StrCat("the coordinator at ", options_.coordinator),
          .patience = patience,
          .channel = channel_};
}

void JobSession::End(const absl::Status& status) {
  {
    absl::MutexLock lock(&mutex_);
    if (!end_.ok()) return;
    end_ = status;
  }
  ended_.Request();
}

absl::Status JobSession::Explain(const absl::Status& status) const {
  absl::MutexLock lock(&mutex_);
  return absl::IsCancelled(status) && !end_.ok() ? end_ : status;
}

absl::Status JobSession::FetchJob() {
  absl::StatusOr<FetchedJob> fetched =
      tributary::FetchJob(*stub_, Patience(absl::InfiniteDuration()), ended_);
  if (!fetched.ok()) return Explain(fetched.status());
  fetched_ = *std::move(fetched);
  return absl::OkStatus();
}

absl::StatusOr<v1::JoinJobResponse> JobSession::TryJoin() {
  v1::JoinJobRequest request;
  *request.mutable_header() = Header();
  request.set_name(options_.name);
  request.set_layout_fingerprint(fetched_.job.job.model.layout.fingerprint());
  *request.mutable_data() = ToProto(data_);
  v1::JoinJobResponse response;
  RETURN_IF_ERROR(Explain(CallWithRetry(
      Patience(options_.peer_timeout), ended_,
      [&](grpc::ClientContext& context) { return stub_->JoinJob(&context, request, &response); })));
  return response;
}

absl::Status JobSession::JoinAgain() {
  RETURN_IF_ERROR(TryJoin().status());
  spdlog::info("joined again: the lease had run out");
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> JobSession::Join(const DataSummary& data, Adopt adopt) {
  data_ = data;
  adopt_ = std::move(adopt);
  std::string said;
  while (true) {
    ASSIGN_OR_RETURN(const v1::JoinJobResponse response, TryJoin());
    if (response.waiting_for().empty()) {
      RETURN_IF_ERROR(CheckJobShape(response.shard_address_size(), response.chunk_elements()));
      lease_ = std::clamp(absl::Seconds(response.lease_seconds()), kShortestLease, kLongestLease);
      lease_thread_ = std::thread([this] { KeepLease(); });
      return std::vector<std::string>(response.shard_address().begin(),
                                      response.shard_address().end());
    }
    if (response.waiting_for() != said) {
      said = response.waiting_for();
      spdlog::info("joined, waiting for {}", said);
    }
    if (ended_.WaitFor(kJoinInterval)) return Explain(absl::CancelledError("asked to stop"));
  }
}

absl::StatusOr<Work> JobSession::NextWork(absl::Span<const EvaluationResult> results) {
  v1::NextWorkRequest request;
  *request.mutable_header() = Header();
  for (const EvaluationResult& result : results) *request.add_result() = ToProto(result);
  while (true) {
    v1::NextWorkResponse response;
    const absl::Status status =
        CallWithRetry(Patience(options_.peer_timeout), ended_, [&](grpc::ClientContext& context) {
          return stub_->NextWork(&context, request, &response);
        });
    if (status.ok()) return FromProto(response.work());
    if (!IsLostLease(status)) return Explain(status);
    RETURN_IF_ERROR(JoinAgain());
  }
}

void JobSession::KeepLease() {
  while (!ended_.WaitFor(lease_ / 3)) {
    absl::Status status = RenewOnce();
    if (IsLostLease(status)) status = JoinAgain();
    // Without a lease there is no work; whoever waits for a version would wait for ever.
    if (!status.ok() && !absl::IsCancelled(status)) End(status);
  }
}

absl::Status JobSession::RenewOnce() {
  v1::RenewLeaseRequest request;
  *request.mutable_header() = Header();
  v1::RenewLeaseResponse response;
  RETURN_IF_ERROR(
      CallWithRetry(Patience(options_.peer_timeout), ended_, [&](grpc::ClientContext& context) {
        return stub_->RenewLease(&context, request, &response);
      }));
  std::vector<ComputeOrder> orders;
  for (const v1::Work::Compute& extra : response.extra()) {
    ASSIGN_OR_RETURN(ComputeOrder order, FromProto(extra));
    orders.push_back(std::move(order));
  }
  if (!orders.empty()) adopt_(orders);
  return absl::OkStatus();
}

void JobSession::Leave(const std::string& error) {
  v1::LeaveJobRequest request;
  *request.mutable_header() = Header();
  request.set_error(error);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLeaveTimeout);
  v1::LeaveJobResponse response;
  // The lease runs out if this does not arrive.
  const grpc::Status status = stub_->LeaveJob(&context, request, &response);
  if (!status.ok()) spdlog::debug("could not say goodbye: {}", status.error_message());
}

}  // namespace tributary
