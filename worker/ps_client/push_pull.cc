#include "worker/ps_client/push_pull.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/net/grpc_status.h"
#include "common/net/messages.h"

namespace tributary {
namespace {

// A call that waits for a slow worker is made again after this long; a peer that is gone is noticed
// earlier, by the connection.
constexpr std::chrono::seconds kCallTimeout(60);

}  // namespace

struct PushPull::Call {
  const ShardPeer* shard = nullptr;
  ElementRange chunk;
  bool is_first = false;  // of shard 0: carries the next order

  v1::PushPullRequest request;
  v1::PushPullResponse response;
  grpc::Status status;
  std::optional<RetryWait> wait;

  absl::Mutex mutex;
  // Remade for each try; another thread may cancel it.
  std::unique_ptr<grpc::ClientContext> context ABSL_GUARDED_BY(mutex);
};

void FillPushRequest(const v1::CallHeader& header, Step step, ElementRange chunk, bool pull,
                     absl::Span<const NodeGradient> gradients, v1::PushPullRequest& request) {
  *request.mutable_header() = header;
  request.set_step(static_cast<uint64_t>(step));
  *request.mutable_chunk() = ToProto(chunk);
  request.set_pull(pull);
  request.clear_gradient();
  for (const NodeGradient& gradient : gradients) {
    v1::SlotGradient& message = *request.add_gradient();
    *message.mutable_slots() = ToProto(gradient.slots);
    *message.mutable_statistics() = ToProto(gradient.statistics);
    const absl::string_view bytes = AsBytes(gradient.values.subspan(
        static_cast<size_t>(chunk.begin), static_cast<size_t>(chunk.size())));
    message.mutable_values()->assign(bytes.data(), bytes.size());
  }
}

PushPull::PushPull(const std::vector<ShardPeer>& shards, JobSession& session) : session_(session) {
  for (const ShardPeer& shard : shards) {
    for (const ElementRange& chunk : shard.chunks) {
      auto call = std::make_unique<Call>();
      call->shard = &shard;
      call->chunk = chunk;
      call->is_first = calls_.empty();
      calls_.push_back(std::move(call));
    }
  }
}

PushPull::~PushPull() = default;

void PushPull::Start(Call& call) {
  grpc::ClientContext* context = nullptr;
  {
    absl::MutexLock lock(&call.mutex);
    call.context = std::make_unique<grpc::ClientContext>();
    call.context->set_deadline(std::chrono::system_clock::now() + kCallTimeout);
    context = call.context.get();
  }
  // One call alone needs no other thread to say that it has ended.
  if (calls_.size() == 1) {
    call.status = call.shard->stub->PushPull(context, call.request, &call.response);
    absl::MutexLock lock(&mutex_);
    ended_.push_back(&call);
    return;
  }
  call.shard->stub->async()->PushPull(context, &call.request, &call.response,
                                      [this, &call](grpc::Status status) {
                                        call.status = std::move(status);
                                        absl::MutexLock lock(&mutex_);
                                        ended_.push_back(&call);
                                      });
}

std::vector<PushPull::Call*> PushPull::TakeEnded() {
  const auto has_ended = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !ended_.empty(); };
  absl::MutexLock lock(&mutex_, absl::Condition(&has_ended));
  return std::exchange(ended_, {});
}

void PushPull::CancelAll() {
  for (const std::unique_ptr<Call>& call : calls_) {
    absl::MutexLock lock(&call->mutex);
    if (call->context != nullptr) call->context->TryCancel();
  }
}

absl::Status PushPull::TakeResponse(const Call& call, Step step, absl::Span<float> parameters,
                                    std::optional<Work>& next) const {
  const v1::PushPullResponse& response = call.response;
  const uint64_t expected_bytes = static_cast<uint64_t>(call.chunk.size()) * sizeof(float);
  if (response.version() != static_cast<uint64_t>(step) + 1 ||
      response.parameters().size() != expected_bytes) {
    return absl::InternalError(absl::StrCat(
        call.shard->name, ": found version ", response.version(), " with ",
        response.parameters().size(), " bytes, expected ", step + 1, " with ", expected_bytes));
  }
  std::memcpy(parameters.data() + call.chunk.begin, response.parameters().data(), expected_bytes);
  if (call.is_first && response.has_next()) {
    ASSIGN_OR_RETURN(next, FromProto(response.next()));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Work>> PushPull::Run(Step step,
                                                  absl::Span<const NodeGradient> gradients,
                                                  absl::Span<float> parameters) {
  const StopSource::Registration cancel(session_.ended(), [this] { CancelAll(); });
  for (const std::unique_ptr<Call>& call : calls_) {
    FillPushRequest(session_.Header(), step, call->chunk, true, gradients, call->request);
    call->wait.emplace(RetryOptions{.peer = call->shard->name,
                                    .patience = session_.options().peer_timeout,
                                    .channel = call->shard->channel},
                       session_.ended());
  }
  for (const std::unique_ptr<Call>& call : calls_) Start(*call);

  std::optional<Work> next;
  absl::Status failure;
  for (size_t under_way = calls_.size(); under_way > 0;) {
    for (Call* const call : TakeEnded()) {
      absl::Status status = FromGrpcStatus(call->status);
      if (status.ok()) {
        status = TakeResponse(*call, step, parameters, next);
      } else if (failure.ok() && !session_.ended().requested()) {
        // A version that takes its time is no failure.
        if (!absl::IsDeadlineExceeded(status)) status = call->wait->AfterFailure(status);
        if (status.ok() || absl::IsDeadlineExceeded(status)) {
          Start(*call);
          continue;
        }
      }
      --under_way;
      if (status.ok() || !failure.ok()) continue;
      failure = session_.Explain(status);
      CancelAll();
    }
  }
  if (!failure.ok()) return failure;
  return next;
}

}  // namespace tributary
