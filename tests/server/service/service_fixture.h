// Two servers of one small job on loopback, and stubs of plain generated code to talk to them.
#ifndef TRIBUTARY_TESTS_SERVER_SERVICE_SERVICE_FIXTURE_H_
#define TRIBUTARY_TESTS_SERVER_SERVICE_SERVICE_FIXTURE_H_

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>
#include <thread>

#include "common/base/stop.h"
#include "common/job/job_file.h"
#include "common/net/channel.h"
#include "server/service/shard_server.h"
#include "tributary/v1/training.grpc.pb.h"

namespace tributary {

// 16 inputs, 4 classes: fc.weight has 64 elements, the whole of shard 0; fc.bias 4 in 16, the whole
// of shard 1. Six samples in batches of 4 and two slots: two steps an epoch.
inline LoadedJob SmallJob() {
  LoadedJob job;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "name: 'small' seed: 1 "
      "model { name: 'm' input { channels: 1 height: 4 width: 4 } layer { flatten {} } "
      "layer { name: 'fc' dense { out_features: 4 } } layer { softmax_cross_entropy {} } } "
      "data { format: SYNTHETIC classes: 4 } optimizer { sgd {} } learning_rate { base: 0.5 } "
      "training { epochs: 2 global_batch: 4 slots: 2 } evaluation { batch: 3 }",
      &job.spec));
  absl::StatusOr<Job> checked = JobFromSpec(job.spec);
  EXPECT_TRUE(checked.ok()) << checked.status();
  if (checked.ok()) job.job = *std::move(checked);
  return job;
}

class TwoServers : public testing::Test {
 protected:
  void SetUp() override {
    spdlog::set_level(spdlog::level::off);
    ShardServer::CoordinatingOptions first;
    first.shards = 2;
    first.goodbye_patience = absl::Milliseconds(100);
    auto coordinating = ShardServer::CreateCoordinating(job_, first);
    ASSERT_TRUE(coordinating.ok()) << coordinating.status();
    servers_[0] = *std::move(coordinating);
    ShardServer::FollowingOptions second;
    second.shards = 2;
    second.coordinator = servers_[0]->address();
    auto following = ShardServer::CreateFollowing(second);
    ASSERT_TRUE(following.ok()) << following.status();
    servers_[1] = *std::move(following);
    for (int k = 0; k < 2; ++k) {
      threads_[k] = std::thread([this, k] { statuses_[k] = servers_[k]->Run(stop_); });
      shards_[k] = v1::Shard::NewStub(CreateChannel(servers_[k]->address()));
    }
    coordinator_ = v1::Coordinator::NewStub(CreateChannel(servers_[0]->address()));
    v1::GetJobRequest request;
    request.set_protocol_version(kProtocolVersion);
    grpc::ClientContext context;
    ASSERT_TRUE(coordinator_->GetJob(&context, request, &fetched_).ok());
  }

  void TearDown() override {
    stop_.Request();
    Join();
  }

  // Until both servers have ended by themselves.
  void Join() {
    for (std::thread& thread : threads_) {
      if (thread.joinable()) thread.join();
    }
  }

  v1::CallHeader Header(uint64_t session) const {
    v1::CallHeader header;
    header.set_job_id(fetched_.job_id());
    header.set_generation(fetched_.generation());
    header.set_session(session);
    return header;
  }

  // A worker's call that joins; six train samples and five test samples.
  v1::JoinJobRequest JoinRequest(uint64_t session) const {
    v1::JoinJobRequest request;
    *request.mutable_header() = Header(session);
    request.set_name("plain");
    request.set_layout_fingerprint(job_.job.model.layout.fingerprint());
    request.mutable_data()->set_train_samples(6);
    request.mutable_data()->set_test_samples(5);
    request.mutable_data()->set_fingerprint(9);
    return request;
  }

  // Joins and waits until the job begins on both shards.
  void JoinJob(uint64_t session) {
    v1::JoinJobResponse response;
    do {
      grpc::ClientContext context;
      response.Clear();
      ASSERT_TRUE(coordinator_->JoinJob(&context, JoinRequest(session), &response).ok());
    } while (!response.waiting_for().empty());
    for (const auto& shard : shards_) {
      v1::OpenRequest request;
      *request.mutable_header() = Header(session);
      request.set_layout_fingerprint(job_.job.model.layout.fingerprint());
      v1::OpenResponse opened;
      grpc::Status status;
      do {
        grpc::ClientContext context;
        status = shard->Open(&context, request, &opened);
      } while (status.error_code() == grpc::StatusCode::UNAVAILABLE);
      ASSERT_TRUE(status.ok()) << status.error_message();
    }
  }

  const LoadedJob job_ = SmallJob();
  StopSource stop_;
  std::unique_ptr<ShardServer> servers_[2];
  std::thread threads_[2];
  absl::Status statuses_[2];
  std::unique_ptr<v1::Coordinator::Stub> coordinator_;
  std::unique_ptr<v1::Shard::Stub> shards_[2];
  v1::GetJobResponse fetched_;
};

}  // namespace tributary

#endif  // TRIBUTARY_TESTS_SERVER_SERVICE_SERVICE_FIXTURE_H_
