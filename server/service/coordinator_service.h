// The Coordinator service: carries calls to the coordinator's decisions (server/coordinator), one
// at a time, and parks those that wait.
//
//   gRPC threads --Turn--> [ mutex: Coordinator, parked calls ] --> answers, log lines
//   ticker thread: leases and waiting times, ten times a second
#ifndef TRIBUTARY_SERVER_SERVICE_COORDINATOR_SERVICE_H_
#define TRIBUTARY_SERVER_SERVICE_COORDINATOR_SERVICE_H_

#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "common/job/job_file.h"
#include "common/net/call_header.h"
#include "server/coordinator/coordinator.h"
#include "server/service/parked_calls.h"
#include "tributary/v1/training.grpc.pb.h"

namespace tributary {

// Thread-safe. Destroy it after the gRPC server that it is registered with has shut down.
class CoordinatorService final : public v1::Coordinator::CallbackService {
 public:
  CoordinatorService(const LoadedJob& job, const JobIdentity& identity,
                     const Coordinator::Options& options, int64_t chunk_elements);
  ~CoordinatorService() override;

  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override;
  grpc::ServerUnaryReactor* RegisterShard(grpc::CallbackServerContext* context,
                                          const v1::RegisterShardRequest* request,
                                          v1::RegisterShardResponse* response) override;
  grpc::ServerUnaryReactor* JoinJob(grpc::CallbackServerContext* context,
                                    const v1::JoinJobRequest* request,
                                    v1::JoinJobResponse* response) override;
  grpc::ServerUnaryReactor* NextWork(grpc::CallbackServerContext* context,
                                     const v1::NextWorkRequest* request,
                                     v1::NextWorkResponse* response) override;
  grpc::ServerUnaryReactor* RenewLease(grpc::CallbackServerContext* context,
                                       const v1::RenewLeaseRequest* request,
                                       v1::RenewLeaseResponse* response) override;
  grpc::ServerUnaryReactor* LeaveJob(grpc::CallbackServerContext* context,
                                     const v1::LeaveJobRequest* request,
                                     v1::LeaveJobResponse* response) override;
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context,
                                      const v1::GetStatusRequest* request,
                                      v1::JobStatus* response) override;

  // For shard 0, which lives in this process.
  absl::Status RegisterOwnShard(const Coordinator::ShardHello& hello);
  void StepCompleted(Version version, const BatchStatistics& statistics);
  absl::StatusOr<Work> NextWorkNow(SessionId session);

  // For the process.
  void Fail(const std::string& why);
  void Close();
  // Looks at the coordinator, under its lock.
  void Read(absl::FunctionRef<void(const Coordinator&)> look) const;
  // Until `condition` holds or `timeout` is over; returns whether it holds.
  bool Await(absl::FunctionRef<bool(const Coordinator&)> condition, absl::Duration timeout) const;
  // Answers every waiting call with UNAVAILABLE, now and later: before the server shuts down.
  void EndCalls();
  // Whether every shard that is registered, but shard 0, has been told of the current phase.
  bool EveryShardKnowsPhase() const;

 private:
  // One turn of the coordinator: `action` under the lock, then everybody who waits is asked again;
  // answers and log lines follow without the lock.
  void Turn(absl::FunctionRef<void(double now_seconds, FinishedCalls& finished)> action);
  void LogChanges() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Tick();
  // Runs `action` in a turn and finishes the call with its status.
  template <typename Action>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context,
                                   const v1::CallHeader& header, const Action& action);

  const LoadedJob job_;
  const JobIdentity identity_;
  const Coordinator::Options options_;
  const int64_t chunk_elements_;
  const double long_poll_seconds_;

  mutable absl::Mutex mutex_;
  Coordinator coordinator_ ABSL_GUARDED_BY(mutex_);
  ParkedCalls parked_ ABSL_GUARDED_BY(mutex_);
  bool calls_ended_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Phase> phase_known_by_shard_ ABSL_GUARDED_BY(mutex_);

  // What was last logged.
  Phase logged_phase_ ABSL_GUARDED_BY(mutex_) = Phase::kClosed;
  std::string logged_waiting_for_ ABSL_GUARDED_BY(mutex_);
  double logged_waiting_seconds_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t logged_evaluations_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<std::string> log_lines_ ABSL_GUARDED_BY(mutex_);

  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread ticker_;
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SERVICE_COORDINATOR_SERVICE_H_
