// What the servers refuse, with what was found and what was expected in the message.
#include <gmock/gmock.h>

#include <functional>

#include "tests/server/service/service_fixture.h"

namespace tributary {
namespace {

using testing::HasSubstr;

constexpr uint64_t kSession = 5;

class Refusals : public TwoServers {
 protected:
  void SetUp() override {
    TwoServers::SetUp();
    JoinJob(kSession);
  }

  template <typename Request, typename Response, typename Stub>
  static grpc::Status Call(Stub& stub,
                           grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                                        Response*),
                           const Request& request) {
    grpc::ClientContext context;
    Response response;
    return (stub.*method)(&context, request, &response);
  }

  static void ExpectRefused(const grpc::Status& status, grpc::StatusCode code,
                            const std::vector<std::string>& parts) {
    EXPECT_EQ(status.error_code(), code) << status.error_message();
    for (const std::string& part : parts) EXPECT_THAT(status.error_message(), HasSubstr(part));
  }

  // A push of slot 0 of step 0 to shard 0 that is right.
  v1::PushPullRequest Push() const {
    v1::PushPullRequest request;
    *request.mutable_header() = Header(kSession);
    const ElementRange range = job_.job.model.layout.ShardRange(0, 2);
    request.mutable_chunk()->set_end(static_cast<uint64_t>(range.end));
    v1::SlotGradient& gradient = *request.add_gradient();
    gradient.mutable_slots()->set_end(1);
    gradient.mutable_statistics()->set_samples(2);
    gradient.set_values(std::string(static_cast<size_t>(range.size()) * sizeof(float), '\0'));
    return request;
  }
};

TEST_F(Refusals, ARightPushIsTaken) {
  EXPECT_TRUE(Call(*shards_[0], &v1::Shard::Stub::PushPull, Push()).ok());
}

TEST_F(Refusals, OfAnotherProtocol) {
  v1::GetJobRequest request;
  request.set_protocol_version(1);
  ExpectRefused(Call(*coordinator_, &v1::Coordinator::Stub::GetJob, request),
                grpc::StatusCode::FAILED_PRECONDITION, {"found 1", "expected 2"});
}

// Every call of a job, with the header of another job or generation.
TEST_F(Refusals, OfCallsForAnotherJobOrGeneration) {
  const auto expect_checked = [&](const std::string& name, auto call) {
    SCOPED_TRACE(name);
    v1::CallHeader header = Header(kSession);
    header.set_job_id("another\n");
    ExpectRefused(call(header), grpc::StatusCode::FAILED_PRECONDITION,
                  {"job_id", "another\\n", fetched_.job_id()});
    header = Header(kSession);
    header.set_generation(41);
    ExpectRefused(call(header), grpc::StatusCode::FAILED_PRECONDITION,
                  {"generation", "found 41", "expected 1"});
  };
  const auto of = [&](auto& stub, auto method, auto request) {
    return [&stub, method, request](const v1::CallHeader& header) mutable {
      *request.mutable_header() = header;
      return Call(stub, method, request);
    };
  };
  v1::RegisterShardRequest shard;
  shard.set_shard(1);
  shard.set_address("h:1");
  expect_checked("RegisterShard", of(*coordinator_, &v1::Coordinator::Stub::RegisterShard, shard));
  expect_checked("JoinJob", of(*coordinator_, &v1::Coordinator::Stub::JoinJob, JoinRequest(6)));
  expect_checked("NextWork",
                 of(*coordinator_, &v1::Coordinator::Stub::NextWork, v1::NextWorkRequest()));
  expect_checked("RenewLease",
                 of(*coordinator_, &v1::Coordinator::Stub::RenewLease, v1::RenewLeaseRequest()));
  expect_checked("LeaveJob",
                 of(*coordinator_, &v1::Coordinator::Stub::LeaveJob, v1::LeaveJobRequest()));
  expect_checked("Open", of(*shards_[1], &v1::Shard::Stub::Open, v1::OpenRequest()));
  expect_checked("PushPull", of(*shards_[0], &v1::Shard::Stub::PushPull, Push()));
  expect_checked("Pull", of(*shards_[0], &v1::Shard::Stub::Pull, v1::PullRequest()));
}

TEST_F(Refusals, OfShardsThatDoNotFit) {
  v1::RegisterShardRequest request;
  *request.mutable_header() = Header(0);
  request.set_address("host:7000");
  request.set_layout_fingerprint(job_.job.model.layout.fingerprint());
  request.set_incarnation(1);
  const auto expect = [&](grpc::StatusCode code, const std::vector<std::string>& parts) {
    ExpectRefused(Call(*coordinator_, &v1::Coordinator::Stub::RegisterShard, request), code, parts);
  };
  request.set_shard(1);
  expect(grpc::StatusCode::FAILED_PRECONDITION, {"shard 1", "host:7000", servers_[1]->address()});
  request.set_shard(2);
  expect(grpc::StatusCode::INVALID_ARGUMENT, {"found 2", "0 to 1"});
  request.set_shard(UINT32_MAX);
  expect(grpc::StatusCode::INVALID_ARGUMENT, {"shard"});
  request.set_shard(0);
  expect(grpc::StatusCode::INVALID_ARGUMENT, {"found 0"});
  request.set_shard(1);
  request.set_address("nowhere");
  expect(grpc::StatusCode::INVALID_ARGUMENT, {"address", "nowhere"});
}

TEST_F(Refusals, OfWorkersThatDoNotFit) {
  v1::JoinJobRequest request = JoinRequest(6);
  request.mutable_data()->set_train_samples(7);
  ExpectRefused(Call(*coordinator_, &v1::Coordinator::Stub::JoinJob, request),
                grpc::StatusCode::FAILED_PRECONDITION, {"7 train", "have 6"});
  request = JoinRequest(6);
  request.set_layout_fingerprint(3);
  ExpectRefused(Call(*coordinator_, &v1::Coordinator::Stub::JoinJob, request),
                grpc::StatusCode::FAILED_PRECONDITION, {"layout_fingerprint"});
  ExpectRefused(Call(*coordinator_, &v1::Coordinator::Stub::JoinJob, JoinRequest(0)),
                grpc::StatusCode::INVALID_ARGUMENT, {"session"});
  v1::NextWorkRequest stranger;
  *stranger.mutable_header() = Header(99);
  ExpectRefused(Call(*coordinator_, &v1::Coordinator::Stub::NextWork, stranger),
                grpc::StatusCode::FAILED_PRECONDITION, {"session", "join again"});
}

TEST_F(Refusals, OfPushesThatDoNotFit) {
  struct Case {
    const char* name;
    std::function<void(v1::PushPullRequest&)> spoil;
    grpc::StatusCode code;
    std::vector<std::string> parts;
  };
  const grpc::StatusCode invalid = grpc::StatusCode::INVALID_ARGUMENT;
  const Case cases[] = {
      {"short values",
       [](auto& r) { r.mutable_gradient(0)->set_values("abc"); },
       invalid,
       {"values", "found 3", "expected 256"}},
      {"chunk too long",
       [](auto& r) { r.mutable_chunk()->set_end(80); },
       invalid,
       {"chunk", "[0, 80)", "[0, 64)"}},
      {"chunk of another shard",
       [](auto& r) {
         r.mutable_chunk()->set_begin(64);
         r.mutable_chunk()->set_end(80);
       },
       invalid,
       {"chunk", "[64, 80)"}},
      {"inverted chunk", [](auto& r) { r.mutable_chunk()->set_begin(65); }, invalid, {"begin"}},
      {"chunk beyond all",
       [](auto& r) { r.mutable_chunk()->set_end(UINT64_MAX); },
       invalid,
       {"range.end"}},
      {"no slots", [](auto& r) { r.mutable_gradient(0)->clear_slots(); }, invalid, {"slots"}},
      {"slots that are no node",
       [](auto& r) {
         r.mutable_gradient(0)->mutable_slots()->set_begin(1);
         r.mutable_gradient(0)->mutable_slots()->set_end(3);
       },
       invalid,
       {"slots", "[1, 3)"}},
      {"wrong samples",
       [](auto& r) { r.mutable_gradient(0)->mutable_statistics()->set_samples(3); },
       invalid,
       {"samples", "found 3", "expected 2"}},
      {"more correct than samples",
       [](auto& r) { r.mutable_gradient(0)->mutable_statistics()->set_correct(3); },
       invalid,
       {"correct"}},
      {"a step that has not begun",
       [](auto& r) { r.set_step(1); },
       grpc::StatusCode::FAILED_PRECONDITION,
       {"step", "found 1", "0"}},
      {"a step beyond all", [](auto& r) { r.set_step(UINT64_MAX); }, invalid, {"step"}},
      {"nothing but a pull beyond all",
       [](auto& r) {
         r.clear_gradient();
         r.set_pull(true);
         r.set_step(INT64_MAX);
       },
       invalid,
       {"step"}},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    v1::PushPullRequest request = Push();
    test.spoil(request);
    ExpectRefused(Call(*shards_[0], &v1::Shard::Stub::PushPull, request), test.code, test.parts);
  }
}

TEST_F(Refusals, OfPullsThatDoNotFit) {
  v1::PullRequest request;
  *request.mutable_header() = Header(0);
  request.mutable_range()->set_end(65);
  ExpectRefused(Call(*shards_[0], &v1::Shard::Stub::Pull, request),
                grpc::StatusCode::INVALID_ARGUMENT, {"range", "[0, 65)", "[0, 64)"});
  request.mutable_range()->set_end(64);
  request.set_version(2);
  ExpectRefused(Call(*shards_[0], &v1::Shard::Stub::Pull, request), grpc::StatusCode::OUT_OF_RANGE,
                {"version", "found 2", "1"});
  request.set_version(UINT64_MAX);
  ExpectRefused(Call(*shards_[0], &v1::Shard::Stub::Pull, request),
                grpc::StatusCode::INVALID_ARGUMENT, {"version"});
}

// A worker that is gone does not leave its wait behind.
TEST_F(Refusals, OfACancelledWaitNothingIsLeft) {
  v1::PullRequest request;
  *request.mutable_header() = Header(0);
  request.mutable_range()->set_end(64);
  request.set_version(1);
  grpc::ClientContext context;
  v1::PullResponse response;
  std::thread canceller([&context] { context.TryCancel(); });
  const grpc::Status status = shards_[0]->Pull(&context, request, &response);
  canceller.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
  // The shard still serves, and ends in TearDown.
  EXPECT_TRUE(Call(*shards_[0], &v1::Shard::Stub::PushPull, Push()).ok());
}

TEST(Listening, OnATakenPortIsRefused) {
  const auto first = ShardServer::CreateCoordinating(SmallJob(), {});
  ASSERT_TRUE(first.ok()) << first.status();
  ShardServer::CoordinatingOptions options;
  options.listen = (*first)->address();
  const auto second = ShardServer::CreateCoordinating(SmallJob(), options);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(second.status().message()), HasSubstr(options.listen));
}

TEST(Listening, AdvertisesWhatItIsTold) {
  ShardServer::CoordinatingOptions options;
  options.advertise = "server0.example:0";
  const auto server = ShardServer::CreateCoordinating(SmallJob(), options);
  ASSERT_TRUE(server.ok()) << server.status();
  EXPECT_THAT((*server)->address(), testing::MatchesRegex("server0\\.example:[1-9][0-9]*"));
}

}  // namespace
}  // namespace tributary
