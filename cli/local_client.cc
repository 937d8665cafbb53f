#include "cli/local_client.h"

#include <chrono>
#include <memory>
#include <utility>

#include "common/base/status_macros.h"
#include "common/codec/decode.h"
#include "common/codec/piece_source.h"
#include "server/coordinator/job_status.h"

namespace tributary {
namespace {

constexpr SessionId kSession = 1;

// A chunk's sum and update stay in the cache; the bits do not depend on it.
constexpr int64_t kChunkElements = 64 << 10;

double NowSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// This process is every worker that the job waits for.
Job WithOneWorker(Job job) {
  job.training.min_workers = 1;
  return job;
}

}  // namespace

LocalClient::LocalClient(const Job& job, std::function<bool()> cancelled)
    : job_(WithOneWorker(job)),
      cancelled_(std::move(cancelled)),
      shard_(job_, 0, 1, kChunkElements),
      coordinator_(job_, {.shards = 1}) {}

absl::Status LocalClient::Begin(const DataSummary& data) {
  const uint64_t fingerprint = job_.model.layout.fingerprint();
  absl::MutexLock lock(&mutex_);
  const double now = NowSeconds();
  RETURN_IF_ERROR(coordinator_.RegisterShard(
      {.shard = 0, .address = "", .layout_fingerprint = fingerprint, .incarnation = 1}, now));
  RETURN_IF_ERROR(coordinator_.Join(
      {.session = kSession, .name = "local", .layout_fingerprint = fingerprint, .data = data},
      now));
  shard_.Begin(*coordinator_.plan(), [this](const Shard::StepResult& step) {
    absl::MutexLock step_lock(&mutex_);
    coordinator_.StepCompleted(step.version, step.statistics, NowSeconds());
  });
  return absl::OkStatus();
}

absl::StatusOr<Work> LocalClient::NextWork(absl::Span<const EvaluationResult> results) {
  if (cancelled_ && cancelled_()) return absl::CancelledError("asked to stop");
  absl::MutexLock lock(&mutex_);
  for (const EvaluationResult& result : results) {
    RETURN_IF_ERROR(coordinator_.ReportEvaluation(result, NowSeconds()));
  }
  return coordinator_.NextWork(kSession, NowSeconds());
}

absl::Status LocalClient::Pull(Version version, absl::Span<float> parameters) {
  ASSIGN_OR_RETURN(const ParameterVersion found, shard_.Get(version));
  // As a worker has them, whatever the pull type loses.
  const WireType type = job_.transfer.pull;
  Decode(type, found.EncodedPart(type, found.range).bytes.data(), parameters);
  return absl::OkStatus();
}

absl::Status LocalClient::Push(Step step, absl::Span<const NodeGradient> gradients) {
  for (const ElementRange& chunk : shard_.chunks()) {
    for (const NodeGradient& gradient : gradients) {
      const SharedBytes part = gradient.values.Part(chunk);
      ASSIGN_OR_RETURN(const std::unique_ptr<ValueSource> values,
                       ReadPieces(gradient.values.type(), chunk.size(), {part.bytes}));
      RETURN_IF_ERROR(shard_.Push(
          step, chunk,
          {.node = gradient.slots, .values = values.get(), .statistics = gradient.statistics}));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Work> LocalClient::PushPull(Step step, absl::Span<const NodeGradient> gradients,
                                           absl::Span<float> parameters) {
  RETURN_IF_ERROR(Push(step, gradients));
  RETURN_IF_ERROR(Pull(step + 1, parameters));
  return NextWork({});
}

v1::JobStatus LocalClient::Status() const {
  absl::MutexLock lock(&mutex_);
  return MakeJobStatus(coordinator_, job_, 1);
}

RunResult LocalClient::Result() const {
  absl::MutexLock lock(&mutex_);
  return MakeRunResult(coordinator_);
}

ParameterVersion LocalClient::Parameters() const {
  return *shard_.Get(std::nullopt);
}

}  // namespace tributary
