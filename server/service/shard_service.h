// The Shard service: carries pushes and pulls to the shard (server/shard). It listens before the
// job is known; until then its calls are answered with UNAVAILABLE, and callers try again.
#ifndef TRIBUTARY_SERVER_SERVICE_SHARD_SERVICE_H_
#define TRIBUTARY_SERVER_SERVICE_SHARD_SERVICE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "common/base/types.h"
#include "common/net/call_header.h"
#include "common/training/work.h"
#include "server/shard/shard.h"
#include "tributary/v1/training.grpc.pb.h"

namespace tributary {

// Thread-safe.
class ShardService final : public v1::Shard::CallbackService {
 public:
  // What the caller of a pull does next; on shard 0 alone.
  using NextWork = std::function<absl::StatusOr<Work>(SessionId session)>;

  struct Serving {
    Shard* shard = nullptr;  // outlives the gRPC server
    ShardId number = 0;
    JobIdentity identity;
    uint64_t layout_fingerprint = 0;
    NextWork next_work;  // empty: another shard than shard 0
  };

  // From here on calls are answered. To be called once.
  void Serve(Serving serving);

  // The shard has begun: workers may come in.
  void Begin() { begun_.store(true, std::memory_order_release); }

  grpc::ServerUnaryReactor* Open(grpc::CallbackServerContext* context,
                                 const v1::OpenRequest* request,
                                 v1::OpenResponse* response) override;
  grpc::ServerUnaryReactor* PushPull(grpc::CallbackServerContext* context,
                                     const v1::PushPullRequest* request,
                                     v1::PushPullResponse* response) override;
  grpc::ServerUnaryReactor* Pull(grpc::CallbackServerContext* context,
                                 const v1::PullRequest* request,
                                 v1::PullResponse* response) override;

 private:
  // The call's header is right and the job is known.
  absl::StatusOr<const Serving*> Check(const v1::CallHeader& header) const;
  static absl::Status AddGradients(const Serving& serving, const v1::PushPullRequest& request,
                                   ElementRange chunk);

  Serving serving_;
  std::atomic<bool> is_serving_ = false;
  std::atomic<bool> begun_ = false;
  std::atomic<int64_t> waiting_ = 0;
};

}  // namespace tributary

#endif  // TRIBUTARY_SERVER_SERVICE_SHARD_SERVICE_H_
