#include "server/service/shard_service.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "common/base/status_macros.h"
#include "common/net/channel.h"
#include "common/net/grpc_status.h"
#include "common/net/messages.h"

namespace tributary {
namespace {

constexpr int64_t kMostPullElements = kMaxMessageBytes / int64_t{sizeof(float)} - 1024;

// A unary call that may be cancelled while it waits. The shard's answer and the cancellation race:
// the first of them finishes the call.
class WaitingCall final : public grpc::ServerUnaryReactor {
 public:
  // To be called once, by whoever takes the response away from the wait.
  bool Claim() { return !claimed_.exchange(true); }
  bool is_claimed() const { return claimed_.load(); }

  void Drop() {
    if (users_.fetch_sub(1) == 1) delete this;
  }

  void OnCancel() override {
    if (Claim()) Finish({grpc::StatusCode::CANCELLED, "the caller has cancelled"});
  }
  void OnDone() override { Drop(); }

 private:
  std::atomic<bool> claimed_ = false;
  std::atomic<int> users_ = 2;  // gRPC and the wait
};

absl::StatusOr<absl::Span<const float>> GradientValues(const v1::SlotGradient& gradient,
                                                       ElementRange chunk) {
  const std::string& bytes = gradient.values();
  if (bytes.size() != static_cast<uint64_t>(chunk.size()) * sizeof(float)) {
    return absl::InvalidArgumentError(absl::StrCat("gradient.values: found ", bytes.size(),
                                                   " bytes, expected ",
                                                   chunk.size() * int64_t{sizeof(float)}));
  }
  // A string's memory comes from the allocator or lies in the string: aligned for a pointer.
  return absl::Span<const float>(reinterpret_cast<const float*>(bytes.data()),
                                 static_cast<size_t>(chunk.size()));
}

// A step or version from the wire, with room for the one after it.
absl::Status CheckNumber(absl::string_view field, uint64_t found) {
  if (found < uint64_t{INT64_MAX}) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(field, ": found ", found, ", allowed below ", INT64_MAX));
}

// More calls than this may not wait for a version; cancelled ones count until it is there. Far
// above the workers and chunks of any cluster, a bound on what a hostile peer can make the shard
// keep.
constexpr int64_t kMostWaitingCalls = 1 << 20;

// Calls `done` with the version as soon as it is there; OUT_OF_RANGE at once for one that cannot be
// the next.
void WhenNear(Shard& shard, Version version, std::atomic<int64_t>& waiting,
              Shard::VersionCallback done) {
  const absl::StatusOr<ParameterVersion> newest = shard.Get(std::nullopt);
  if (newest.ok() && version > newest->version + 1) {
    done(absl::OutOfRangeError(
        absl::StrCat("version: found ", version, ", expected at most ", newest->version + 1)));
    return;
  }
  if (waiting.fetch_add(1) >= kMostWaitingCalls) {
    waiting.fetch_sub(1);
    done(absl::ResourceExhaustedError("too many calls wait for a version"));
    return;
  }
  shard.WhenVersion(version, [&waiting, done = std::move(done)](const auto& answer) {
    waiting.fetch_sub(1);
    done(answer);
  });
}

}  // namespace

void ShardService::Serve(Serving serving) {
  serving_ = std::move(serving);
  is_serving_.store(true, std::memory_order_release);
}

absl::StatusOr<const ShardService::Serving*> ShardService::Check(
    const v1::CallHeader& header) const {
  if (!is_serving_.load(std::memory_order_acquire)) {
    return absl::UnavailableError("this shard does not know its job yet");
  }
  RETURN_IF_ERROR(CheckHeader(header, serving_.identity));
  return &serving_;
}

grpc::ServerUnaryReactor* ShardService::Open(grpc::CallbackServerContext* context,
                                             const v1::OpenRequest* request,
                                             v1::OpenResponse* response) {
  grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
  const auto open = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const Serving* serving, Check(request->header()));
    if (request->layout_fingerprint() != serving->layout_fingerprint) {
      return absl::FailedPreconditionError(
          absl::StrFormat("layout_fingerprint: found %016x, expected %016x",
                          request->layout_fingerprint(), serving->layout_fingerprint));
    }
    if (!begun_.load(std::memory_order_acquire)) {
      return absl::UnavailableError("the job has not begun on this shard");
    }
    ASSIGN_OR_RETURN(const ParameterVersion newest, serving->shard->Get(std::nullopt));
    response->set_shard(static_cast<uint32_t>(serving->number));
    *response->mutable_range() = ToProto(serving->shard->range());
    response->set_version(static_cast<uint64_t>(newest.version));
    response->set_max_message_bytes(kMaxMessageBytes);
    return absl::OkStatus();
  };
  reactor->Finish(ToGrpcStatus(open()));
  return reactor;
}

absl::Status ShardService::AddGradients(const Serving& serving, const v1::PushPullRequest& request,
                                        ElementRange chunk) {
  for (const v1::SlotGradient& gradient : request.gradient()) {
    ASSIGN_OR_RETURN(const SlotRange node, FromProto(gradient.slots()));
    ASSIGN_OR_RETURN(const BatchStatistics statistics, FromProto(gradient.statistics()));
    ASSIGN_OR_RETURN(const absl::Span<const float> values, GradientValues(gradient, chunk));
    RETURN_IF_ERROR(
        serving.shard->Push(static_cast<Step>(request.step()), chunk, node, values, statistics));
  }
  return absl::OkStatus();
}

grpc::ServerUnaryReactor* ShardService::PushPull(grpc::CallbackServerContext*,
                                                 const v1::PushPullRequest* request,
                                                 v1::PushPullResponse* response) {
  auto* const call = new WaitingCall;
  const auto finish = [call](const absl::Status& status) {
    if (call->Claim()) call->Finish(ToGrpcStatus(status));
    call->Drop();
  };
  const absl::StatusOr<const Serving*> serving = Check(request->header());
  absl::StatusOr<ElementRange> chunk = FromProto(request->chunk());
  absl::Status status = serving.status();
  if (status.ok()) status = chunk.status();
  if (status.ok()) status = CheckNumber("step", request->step());
  if (status.ok()) status = AddGradients(**serving, *request, *chunk);
  if (!status.ok() || !request->pull()) {
    finish(status);
    return call;
  }
  const bool is_first_chunk = chunk->begin == (*serving)->shard->range().begin;
  const NextWork* const next_work =
      is_first_chunk && (*serving)->next_work ? &(*serving)->next_work : nullptr;
  WhenNear(*(*serving)->shard, static_cast<Version>(request->step()) + 1, waiting_,
           [call, request, response, chunk = *chunk, next_work,
            finish](const absl::StatusOr<ParameterVersion>& version) {
             // After a cancellation request and response may be gone.
             if (!call->Claim()) {
               call->Drop();
               return;
             }
             const auto fill = [&]() -> absl::Status {
               RETURN_IF_ERROR(version.status());
               if (!version->range.contains(chunk)) {
                 return absl::InvalidArgumentError(absl::StrCat(
                     "chunk: found [", chunk.begin, ", ", chunk.end, "), expected a part of [",
                     version->range.begin, ", ", version->range.end, ")"));
               }
               response->set_version(static_cast<uint64_t>(version->version));
               const absl::string_view bytes = AsBytes(version->Part(chunk));
               response->mutable_parameters()->assign(bytes.data(), bytes.size());
               if (next_work == nullptr) return absl::OkStatus();
               // A worker whose lease ran out gets no order here; it asks, and hears why.
               const absl::StatusOr<Work> next = (*next_work)(request->header().session());
               if (next.ok()) *response->mutable_next() = ToProto(*next);
               return absl::IsAborted(next.status()) ? next.status() : absl::OkStatus();
             };
             call->Finish(ToGrpcStatus(fill()));
             call->Drop();
           });
  return call;
}

grpc::ServerUnaryReactor* ShardService::Pull(grpc::CallbackServerContext*,
                                             const v1::PullRequest* request,
                                             v1::PullResponse* response) {
  auto* const call = new WaitingCall;
  const auto finish = [call](const absl::Status& status) {
    if (call->Claim()) call->Finish(ToGrpcStatus(status));
    call->Drop();
  };
  const absl::StatusOr<const Serving*> serving = Check(request->header());
  const absl::StatusOr<ElementRange> range = FromProto(request->range());
  absl::Status status = serving.status();
  if (status.ok()) status = range.status();
  if (status.ok() &&
      !((*serving)->shard->range().contains(*range) && range->size() <= kMostPullElements)) {
    const ElementRange own = (*serving)->shard->range();
    status = absl::InvalidArgumentError(
        absl::StrCat("range: found [", range->begin, ", ", range->end, "), expected a part of [",
                     own.begin, ", ", own.end, ") of at most ", kMostPullElements, " elements"));
  }
  if (status.ok()) status = CheckNumber("version", request->version());
  if (!status.ok()) {
    finish(status);
    return call;
  }
  Shard& shard = *(*serving)->shard;
  const auto answer = [call, response,
                       range = *range](const absl::StatusOr<ParameterVersion>& version) {
    if (call->Claim()) {
      if (version.ok()) {
        response->set_version(static_cast<uint64_t>(version->version));
        const absl::string_view bytes = AsBytes(version->Part(range));
        response->mutable_parameters()->assign(bytes.data(), bytes.size());
      }
      call->Finish(ToGrpcStatus(version.status()));
    }
    call->Drop();
  };
  if (request->has_version()) {
    WhenNear(shard, static_cast<Version>(request->version()), waiting_, answer);
  } else {
    answer(shard.Get(std::nullopt));
  }
  return call;
}

}  // namespace tributary
