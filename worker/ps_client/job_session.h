// A worker's membership in a job: finds the coordinator, joins, keeps the lease, asks for work,
// leaves.
#ifndef TRIBUTARY_WORKER_PS_CLIENT_JOB_SESSION_H_
#define TRIBUTARY_WORKER_PS_CLIENT_JOB_SESSION_H_

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/base/stop.h"
#include "common/net/fetch_job.h"
#include "common/training/work.h"
#include "tributary/v1/training.grpc.pb.h"

namespace tributary {

// Thread-safe from Join on. Every wait ends with the status of `End`, if there was one.
class JobSession {
 public:
  struct Options {
    std::string coordinator;  // HOST:PORT
    std::string name;         // of the worker, for people
    // How long a peer that was there may be away.
    absl::Duration peer_timeout = absl::Seconds(60);
  };
  using Adopt = std::function<void(const std::vector<ComputeOrder>& orders)>;

  explicit JobSession(const Options& options);
  ~JobSession();  // closes it
  JobSession(const JobSession&) = delete;
  JobSession& operator=(const JobSession&) = delete;

  // Asks for the job until there is an answer. To be called once, first.
  absl::Status FetchJob();
  const FetchedJob& fetched() const { return fetched_; }
  bool has_job() const { return fetched_.shards > 0; }

  // Joins and waits until the job begins; from then on a thread keeps the lease and hands slots of
  // lost workers to `adopt`. Says in the log what is waited for. Returns the shards' addresses.
  absl::StatusOr<std::vector<std::string>> Join(const DataSummary& data, Adopt adopt);

  // As ParameterClient::NextWork. Joins again if the lease ran out.
  absl::StatusOr<Work> NextWork(absl::Span<const EvaluationResult> results);

  // Tells the coordinator that the worker goes; `error` empty, or why. Tries once, after End too.
  void Leave(const std::string& error);

  // Ends every wait with `status`, now and later; the first one counts.
  void End(const absl::Status& status);
  // Ends every wait, and the lease thread: `adopt` is not called any more once this returns.
  void Close();
  // Requested by End; calls of others wait with it.
  StopSource& ended() { return ended_; }
  // `status`, or what the session was ended with if `status` only tells that.
  absl::Status Explain(const absl::Status& status) const;

  v1::CallHeader Header() const { return MakeHeader(fetched_.identity, id_); }
  const Options& options() const { return options_; }

 private:
  RetryOptions Patience(absl::Duration patience) const;
  absl::StatusOr<v1::JoinJobResponse> TryJoin();
  absl::Status JoinAgain();
  void KeepLease();
  absl::Status RenewOnce();

  const Options options_;
  const SessionId id_;
  const std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Coordinator::Stub> stub_;
  StopSource ended_;
  mutable absl::Mutex mutex_;
  absl::Status end_ ABSL_GUARDED_BY(mutex_);

  // Written by FetchJob and Join, before the lease thread starts.
  FetchedJob fetched_;
  DataSummary data_;
  Adopt adopt_;
  absl::Duration lease_ = absl::Seconds(10);
  std::thread lease_thread_;
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_PS_CLIENT_JOB_SESSION_H_
