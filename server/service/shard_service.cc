#include "server/service/shard_service.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "common/base/status_macros.h"
#include "common/codec/piece_source.h"
#include "common/net/channel.h"
#include "common/net/grpc_status.h"
#include "common/net/messages.h"

namespace tributary {
namespace {

constexpr int64_t kMostPullElements =
    (kMaxMessageBytes - kMessageHeadroom) / int64_t{sizeof(float)};

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

// Calls `done` with the version as soon as it is there, in the chunk alone if one is given;
// OUT_OF_RANGE at once for a version that cannot be the next.
void WhenNear(Shard& shard, Version version, std::optional<ElementRange> chunk,
              std::atomic<int64_t>& waiting, Shard::VersionCallback done) {
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
  Shard::VersionCallback callback = [&waiting, done = std::move(done)](const auto& answer) {
    waiting.fetch_sub(1);
    done(answer);
  };
  if (chunk.has_value()) {
    shard.WhenChunk(version, *chunk, std::move(callback));
  } else {
    shard.WhenVersion(version, std::move(callback));
  }
}

// The largest answer to PushPull, header included.
uint64_t LargestAnswer(const Shard& shard) {
  return static_cast<uint64_t>(EncodedBytes(
             shard.pull_type(), std::min(shard.range().size(), shard.chunk_elements()))) +
         kMessageHeadroom;
}

// What a Pull asks for is within the shard, fits a message and can be read in its type.
absl::Status CheckPull(const Shard& shard, ElementRange range, v1::TransferSpec::Type type) {
  const ElementRange own = shard.range();
  if (!own.contains(range) || range.size() > kMostPullElements) {
    return absl::InvalidArgumentError(
        absl::StrCat("range: found [", range.begin, ", ", range.end, "), expected a part of [",
                     own.begin, ", ", own.end, ") of at most ", kMostPullElements, " elements"));
  }
  if (type == v1::TransferSpec::FP32) return absl::OkStatus();
  if (type != ToProto(shard.pull_type())) {
    return absl::InvalidArgumentError(
        absl::StrCat("type: found ", static_cast<int>(type), ", expected ",
                     static_cast<int>(v1::TransferSpec::FP32), " or ",
                     static_cast<int>(ToProto(shard.pull_type())), " (the job's transfer.pull)"));
  }
  if (range.begin % kShardUnit == 0 && (range.end % kShardUnit == 0 || range.end == own.end)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("range: found [", range.begin, ", ", range.end, "), expected multiples of ",
                   kShardUnit, " or the end of [", own.begin, ", ", own.end, ")"));
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
    constexpr uint64_t kGrpcDefault = uint64_t{4} << 20;
    const uint64_t most =
        request->max_message_bytes() != 0 ? request->max_message_bytes() : kGrpcDefault;
    if (LargestAnswer(*serving->shard) > most) {
      return absl::FailedPreconditionError(
          absl::StrCat("max_message_bytes: found ", most, ", expected at least ",
                       LargestAnswer(*serving->shard), " (a chunk of parameters)"));
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
  Shard& shard = *serving.shard;
  for (const v1::SlotGradient& gradient : request.gradient()) {
    Shard::NodePush push;
    ASSIGN_OR_RETURN(push.node, FromProto(gradient.slots()));
    if (gradient.has_statistics()) {
      ASSIGN_OR_RETURN(push.statistics, FromProto(gradient.statistics()));
    }
    std::unique_ptr<ValueSource> values;
    if (gradient.has_values()) {
      absl::StatusOr<std::unique_ptr<ValueSource>> read =
          ReadPieces(shard.push_type(), chunk.size(), {gradient.values()});
      if (!read.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("gradient.values: ", read.status().message()));
      }
      values = *std::move(read);
      push.values = values.get();
    }
    RETURN_IF_ERROR(shard.Push(static_cast<Step>(request.step()), chunk, push));
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
  if (status.ok()) status = (*serving)->shard->CheckChunk(*chunk);
  if (status.ok()) status = AddGradients(**serving, *request, *chunk);
  if (!status.ok() || !request->pull()) {
    finish(status);
    return call;
  }
  Shard& shard = *(*serving)->shard;
  const bool is_last_chunk = chunk->end == shard.range().end;
  const NextWork* const next_work =
      is_last_chunk && (*serving)->next_work ? &(*serving)->next_work : nullptr;
  const auto answer = [call, request, response, type = shard.pull_type(), chunk = *chunk,
                       next_work](const absl::StatusOr<ParameterVersion>& version) {
    // After a cancellation request and response may be gone.
    if (!call->Claim()) {
      call->Drop();
      return;
    }
    const auto fill = [&]() -> absl::Status {
      RETURN_IF_ERROR(version.status());
      response->set_version(static_cast<uint64_t>(version->version));
      const SharedBytes bytes = version->EncodedPart(type, chunk);
      response->mutable_parameters()->assign(bytes.bytes.data(), bytes.bytes.size());
      if (next_work == nullptr) return absl::OkStatus();
      // A worker whose lease ran out gets no order here; it asks, and hears why.
      const absl::StatusOr<Work> next = (*next_work)(request->header().session());
      if (next.ok()) *response->mutable_next() = ToProto(*next);
      return absl::IsAborted(next.status()) ? next.status() : absl::OkStatus();
    };
    call->Finish(ToGrpcStatus(fill()));
    call->Drop();
  };
  // The next order exists when the step is complete, and is worth the wait for the other chunks.
  const std::optional<ElementRange> waits_for =
      next_work == nullptr ? std::optional<ElementRange>(*chunk) : std::nullopt;
  WhenNear(shard, static_cast<Version>(request->step()) + 1, waits_for, waiting_, answer);
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
  if (status.ok()) status = CheckPull(*(*serving)->shard, *range, request->type());
  if (status.ok()) status = CheckNumber("version", request->version());
  if (!status.ok()) {
    finish(status);
    return call;
  }
  Shard& shard = *(*serving)->shard;
  const WireType type =
      request->type() == v1::TransferSpec::FP32 ? WireType::kFp32 : shard.pull_type();
  const auto answer = [call, response, type,
                       range = *range](const absl::StatusOr<ParameterVersion>& version) {
    if (call->Claim()) {
      if (version.ok()) {
        response->set_version(static_cast<uint64_t>(version->version));
        const SharedBytes bytes = version->EncodedPart(type, range);
        response->mutable_parameters()->assign(bytes.bytes.data(), bytes.bytes.size());
      }
      call->Finish(ToGrpcStatus(version.status()));
    }
    call->Drop();
  };
  if (request->has_version()) {
    WhenNear(shard, static_cast<Version>(request->version()), std::nullopt, waiting_, answer);
  } else {
    answer(shard.Get(std::nullopt));
  }
  return call;
}

}  // namespace tributary
