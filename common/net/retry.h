// A call that is made again while its peer is not there or not ready: with backoff and jitter, a
// line in the log that says what is waited for, and an end when asked to stop.
#ifndef TRIBUTARY_COMMON_NET_RETRY_H_
#define TRIBUTARY_COMMON_NET_RETRY_H_

#include <memory>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "common/base/backoff.h"
#include "common/base/stop.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"

namespace tributary {

struct RetryOptions {
  // For people, as "the coordinator at 10.0.0.1:7000".
  std::string peer;
  // Each try takes at most this long.
  absl::Duration call_timeout = absl::Seconds(30);
  // How long the peer may be away; infinite: as long as it takes.
  absl::Duration patience = absl::InfiniteDuration();
  // The peer's channel; may be null. The next try then comes as soon as it is connected. (gRPC
  // looks after a connection in the making while a call or such a wait is under way, and otherwise
  // every five seconds: client_channel/backup_poller.cc.)
  std::shared_ptr<grpc::Channel> channel = nullptr;
};

// Whether a call that ended so may succeed later as it is: UNAVAILABLE, DEADLINE_EXCEEDED; and
// CANCELLED, unless the caller has cancelled it: a server that shuts down ends calls so.
bool IsWorthRetrying(const absl::Status& status);

// The waits between the tries of one call, and what is said about them.
class RetryWait {
 public:
  RetryWait(const RetryOptions& options, StopSource& stop);

  // After a try that failed with `status`: OK to try again now, otherwise the status to give up
  // with: `status` itself when it is not worth retrying; UNAVAILABLE with the peer when its time is
  // over; CANCELLED on a request to stop.
  absl::Status AfterFailure(const absl::Status& status);

 private:
  // Returns whether it was asked to stop.
  bool Sleep(absl::Duration duration) const;

  const RetryOptions options_;
  StopSource& stop_;
  Backoff backoff_;
  absl::Duration waited_;
  absl::Duration said_;
};

// Calls until it succeeds or fails for good.
absl::Status CallWithRetry(const RetryOptions& options, StopSource& stop,
                           absl::FunctionRef<grpc::Status(grpc::ClientContext&)> call);

}  // namespace tributary

#endif  // TRIBUTARY_COMMON_NET_RETRY_H_
