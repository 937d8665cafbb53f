#include "common/net/retry.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "common/net/grpc_status.h"

namespace tributary {
namespace {

constexpr double kFirstWaitSeconds = 0.05;
constexpr double kMostWaitSeconds = 2;
constexpr absl::Duration kSayEvery = absl::Seconds(10);
// Below this a wait is nothing to speak of: roles are started in any order.
constexpr absl::Duration kSayAfter = absl::Milliseconds(500);
// A wait for a connection looks this often whether it is asked to stop.
constexpr absl::Duration kStopInterval = absl::Milliseconds(50);

}  // namespace

bool IsWorthRetrying(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status);
}

RetryWait::RetryWait(const RetryOptions& options, StopSource& stop)
    : options_(options),
      stop_(stop),
      backoff_(kFirstWaitSeconds, kMostWaitSeconds),
      said_(kSayAfter - kSayEvery) {}

absl::Status RetryWait::AfterFailure(const absl::Status& status) {
  if (stop_.requested()) return absl::CancelledError("asked to stop");
  if (!IsWorthRetrying(status)) return status;
  if (waited_ >= options_.patience) {
    return absl::UnavailableError(absl::StrCat(options_.peer, " has been away for ",
                                               absl::FormatDuration(options_.patience), ": ",
                                               status.message()));
  }
  if (waited_ - said_ >= kSayEvery) {
    spdlog::info("waiting for {}: {}", options_.peer, std::string(status.message()));
    said_ = waited_;
  }
  const absl::Duration wait = absl::Seconds(backoff_.NextSeconds());
  waited_ += wait;
  if (absl::IsDeadlineExceeded(status)) waited_ += options_.call_timeout;
  if (Sleep(wait)) return absl::CancelledError("asked to stop");
  return absl::OkStatus();
}

bool RetryWait::Sleep(absl::Duration duration) const {
  const bool is_connected =
      options_.channel == nullptr || options_.channel->GetState(false) == GRPC_CHANNEL_READY;
  if (is_connected) return stop_.WaitFor(duration);
  const absl::Time end = absl::Now() + duration;
  // First a short sleep: a peer that takes connections only to drop them must not make us spin.
  bool is_over = stop_.WaitFor(std::min(duration, kStopInterval / 2));
  while (!is_over && absl::Now() < end) {
    const absl::Time look = std::min(end, absl::Now() + kStopInterval);
    is_over = options_.channel->WaitForConnected(absl::ToChronoTime(look)) || stop_.requested();
  }
  return stop_.requested();
}

absl::Status CallWithRetry(const RetryOptions& options, StopSource& stop,
                           absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call) {
  RetryWait wait(options, stop);
  while (true) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() +
                         absl::ToChronoMilliseconds(options.call_timeout));
    absl::Status status;
    {
      const StopSource::Registration cancel(stop, [&context] { context.TryCancel(); });
      status = FromGrpcStatus(call(context));
    }
    if (status.ok()) return status;
    status = wait.AfterFailure(status);
    if (!status.ok()) return status;
  }
}

}  // namespace tributary
