#include "worker/ps_client/push_pull.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/codec/decode.h"
#include "common/codec/sparse.h"
#include "common/net/channel.h"
#include "common/net/grpc_status.h"
#include "common/net/messages.h"

namespace tributary {
namespace {

// Slots and statistics of one gradient in a message, and the lengths around them.
constexpr int64_t kGradientHeadroom = 128;

// A call that waits for a slow worker is made again after this long; a peer that is gone is noticed
// earlier, by the connection.
constexpr std::chrono::seconds kCallTimeout(60);

}  // namespace

struct PushPull::Call {
  const ShardPeer* shard = nullptr;
  ElementRange chunk;
  bool is_last = false;  // of shard 0: carries the next order
  size_t gradients = 0;  // that the request has or had

  v1::PushPullRequest request;
  v1::PushPullResponse response;
  grpc::Status status;
  std::optional<RetryWait> wait;

  absl::Mutex mutex;
  // Remade for each try; another thread may cancel it.
  std::unique_ptr<grpc::ClientContext> context ABSL_GUARDED_BY(mutex);
};

size_t FillPushRequest(const v1::CallHeader& header, Step step, const ShardPeer& shard,
                       ElementRange chunk, absl::Span<const NodeGradient> gradients,
                       v1::PushPullRequest& request) {
  *request.mutable_header() = header;
  request.set_step(static_cast<uint64_t>(step));
  *request.mutable_chunk() = ToProto(chunk);
  request.clear_gradient();
  int64_t room = shard.max_message_bytes - kMessageHeadroom;
  size_t filled = 0;
  for (const NodeGradient& gradient : gradients) {
    const SharedBytes part = gradient.values.Part(chunk);
    room -= static_cast<int64_t>(part.bytes.size()) + kGradientHeadroom;
    if (filled > 0 && room < 0) break;
    v1::SlotGradient& message = *request.add_gradient();
    *message.mutable_slots() = ToProto(gradient.slots);
    *message.mutable_statistics() = ToProto(gradient.statistics);
    message.mutable_values()->assign(part.bytes.data(), part.bytes.size());
    ++filled;
  }
  return filled;
}

absl::Status DecodeParameters(const ShardPeer& shard, WireType pull, absl::string_view bytes,
                              absl::Span<float> out) {
  const int64_t expected = EncodedBytes(pull, static_cast<int64_t>(out.size()));
  if (static_cast<int64_t>(bytes.size()) != expected) {
    return absl::InternalError(absl::StrCat(shard.name, ": parameters: found ", bytes.size(),
                                            " bytes, expected ", expected));
  }
  Decode(pull, bytes.data(), out);
  return absl::OkStatus();
}

absl::Status CheckMessageSize(const ShardPeer& shard, WireType push) {
  int64_t largest = 0;
  for (const ElementRange& chunk : shard.chunks) largest = std::max(largest, chunk.size());
  const int64_t values = push == WireType::kTopK
                             ? largest * static_cast<int64_t>(sizeof(SparseEntry))
                             : EncodedBytes(push, largest);
  const int64_t needed = values + kGradientHeadroom + kMessageHeadroom;
  if (needed <= shard.max_message_bytes) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(shard.name, ": max_message_bytes: found ", shard.max_message_bytes,
                   ", expected at least ", needed, " (a chunk of ", largest, " elements)"));
}

PushPull::PushPull(const std::vector<ShardPeer>& shards, JobSession& session) : session_(session) {
  for (const ShardPeer& shard : shards) {
    for (const ElementRange& chunk : shard.chunks) {
      auto call = std::make_unique<Call>();
      call->shard = &shard;
      call->chunk = chunk;
      call->is_last = &shard == shards.data() && chunk == shard.chunks.back();
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
  if (response.version() != static_cast<uint64_t>(step) + 1) {
    return absl::InternalError(absl::StrCat(call.shard->name, ": version: found ",
                                            response.version(), ", expected ", step + 1));
  }
  RETURN_IF_ERROR(DecodeParameters(*call.shard, session_.fetched().job.job.transfer.pull,
                                   response.parameters(),
                                   parameters.subspan(static_cast<size_t>(call.chunk.begin),
                                                      static_cast<size_t>(call.chunk.size()))));
  if (call.is_last && response.has_next()) {
    ASSIGN_OR_RETURN(next, FromProto(response.next()));
  }
  return absl::OkStatus();
}

void PushPull::Fill(Call& call, Step step, absl::Span<const NodeGradient> gradients) const {
  call.gradients += FillPushRequest(session_.Header(), step, *call.shard, call.chunk,
                                    gradients.subspan(call.gradients), call.request);
  call.request.set_pull(call.gradients == gradients.size());
}

absl::StatusOr<std::optional<Work>> PushPull::Run(Step step,
                                                  absl::Span<const NodeGradient> gradients,
                                                  absl::Span<float> parameters) {
  const StopSource::Registration cancel(session_.ended(), [this] { CancelAll(); });
  for (const std::unique_ptr<Call>& call : calls_) {
    call->gradients = 0;
    Fill(*call, step, gradients);
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
      if (status.ok() && !call->request.pull()) {
        Fill(*call, step, gradients);
        Start(*call);
        continue;
      }
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
