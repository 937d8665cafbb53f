// A worker written from the published interface alone, with plain generated code, trains a job to
// its end. Its gradient is 1 for every sample and parameter, so a step takes learning_rate off
// each.
#include <cstring>
#include <vector>

#include "common/model/initialize.h"
#include "tests/server/service/service_fixture.h"

namespace tributary {
namespace {

constexpr uint64_t kSession = 77;

class PlainClient : public TwoServers {
 protected:
  // One slot of 2 samples, or of 1 in the epoch's last batch of 2.
  static void AddSlot(uint32_t slot, uint64_t samples, size_t elements,
                      v1::PushPullRequest& request) {
    v1::SlotGradient& gradient = *request.add_gradient();
    gradient.mutable_slots()->set_begin(slot);
    gradient.mutable_slots()->set_end(slot + 1);
    gradient.mutable_statistics()->set_samples(samples);
    const std::vector<float> values(elements, static_cast<float>(samples));
    gradient.set_values(values.data(), elements * sizeof(float));
  }

  v1::PushPullResponse PushPull(int shard, uint64_t step, bool pull) {
    const ElementRange range = job_.job.model.layout.ShardRange(shard, 2);
    v1::PushPullRequest request;
    *request.mutable_header() = Header(kSession);
    request.set_step(step);
    request.mutable_chunk()->set_begin(static_cast<uint64_t>(range.begin));
    request.mutable_chunk()->set_end(static_cast<uint64_t>(range.end));
    request.set_pull(pull);
    const uint64_t samples = step % 2 == 0 ? 2 : 1;
    for (const uint32_t slot : {1, 0}) {
      AddSlot(slot, samples, static_cast<size_t>(range.size()), request);
    }
    v1::PushPullResponse response;
    grpc::ClientContext context;
    const grpc::Status status = shards_[shard]->PushPull(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response;
  }

  v1::Work NextWork(const v1::NextWorkRequest& request) {
    v1::NextWorkResponse response;
    grpc::ClientContext context;
    const grpc::Status status = coordinator_->NextWork(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.work();
  }

  std::vector<float> Values(const std::string& bytes) {
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
};

TEST_F(PlainClient, TrainsAJobToItsEnd) {
  JoinJob(kSession);
  std::vector<float> initial(static_cast<size_t>(job_.job.model.layout.elements()));
  InitializeParameters(job_.job.model, job_.job.seed, {0, job_.job.model.layout.elements()},
                       absl::MakeSpan(initial));

  v1::NextWorkRequest ask;
  *ask.mutable_header() = Header(kSession);
  v1::Work work = NextWork(ask);
  for (uint64_t step = 0; step < 4; ++step) {
    ASSERT_EQ(work.compute().step(), step);
    ASSERT_EQ(work.compute().slots_size(), 1);
    EXPECT_EQ(work.compute().slots(0).begin(), 0U);
    EXPECT_EQ(work.compute().slots(0).end(), 2U);
    const v1::PushPullResponse first = PushPull(0, step, true);
    EXPECT_EQ(first.version(), step + 1);
    ASSERT_TRUE(first.has_next());
    work = first.next();
    // A repeat changes nothing, and shard 1 has nothing to say about work.
    EXPECT_EQ(PushPull(0, step, true).parameters(), first.parameters());
    const v1::PushPullResponse second = PushPull(1, step, true);
    EXPECT_FALSE(second.has_next());
    std::vector<float> parameters = Values(first.parameters());
    const std::vector<float> rest = Values(second.parameters());
    parameters.insert(parameters.end(), rest.begin(), rest.end());
    ASSERT_EQ(parameters.size(), initial.size());
    for (size_t i = 0; i < initial.size(); ++i) {
      EXPECT_NEAR(parameters[i], initial[i] - 0.5 * static_cast<double>(step + 1), 1e-6);
    }
  }

  // Five test samples in units of three.
  ASSERT_TRUE(work.has_evaluate());
  EXPECT_EQ(work.evaluate().version(), 4U);
  ASSERT_EQ(work.evaluate().unit_size(), 2);
  for (const uint32_t unit : work.evaluate().unit()) {
    v1::EvaluationResult& result = *ask.add_result();
    result.set_version(4);
    result.set_unit(unit);
    result.set_count(unit == 0 ? 3 : 2);
    result.set_correct(1);
    result.set_loss_sum(2.5);
  }
  work = NextWork(ask);
  EXPECT_EQ(work.finished().version(), 4U);

  v1::JobStatus status;
  grpc::ClientContext status_context;
  ASSERT_TRUE(coordinator_->GetStatus(&status_context, {}, &status).ok());
  EXPECT_EQ(status.step(), 4U);
  EXPECT_EQ(status.images(), 12U);
  EXPECT_EQ(status.test_count(), 5U);
  EXPECT_EQ(status.test_correct(), 2U);
  EXPECT_EQ(status.test_loss(), 1.0);

  v1::LeaveJobRequest leave;
  *leave.mutable_header() = Header(kSession);
  v1::LeaveJobResponse left;
  grpc::ClientContext context;
  EXPECT_TRUE(coordinator_->LeaveJob(&context, leave, &left).ok());
  // Both servers end by themselves.
  Join();
  EXPECT_TRUE(statuses_[0].ok()) << statuses_[0];
  EXPECT_TRUE(statuses_[1].ok()) << statuses_[1];
}

TEST_F(PlainClient, MayPullWhatItHasNotPushed) {
  JoinJob(kSession);
  v1::PullRequest request;
  *request.mutable_header() = Header(0);
  const ElementRange range = job_.job.model.layout.ShardRange(1, 2);
  request.mutable_range()->set_begin(static_cast<uint64_t>(range.begin) + 1);
  request.mutable_range()->set_end(static_cast<uint64_t>(range.begin) + 3);
  v1::PullResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(shards_[1]->Pull(&context, request, &response).ok());
  EXPECT_EQ(response.version(), 0U);
  std::vector<float> expected(2);
  InitializeParameters(job_.job.model, job_.job.seed, {range.begin + 1, range.begin + 3},
                       absl::MakeSpan(expected));
  EXPECT_EQ(Values(response.parameters()), expected);
}

// Whoever waits when the job is stopped hears why.
TEST_F(PlainClient, HearsThatTheJobIsStopped) {
  JoinJob(kSession);
  v1::PullRequest request;
  *request.mutable_header() = Header(kSession);
  request.mutable_range()->set_end(1);
  request.set_version(1);
  std::thread stopper([this] { stop_.Request(); });
  v1::PullResponse response;
  grpc::ClientContext context;
  const grpc::Status status = shards_[0]->Pull(&context, request, &response);
  stopper.join();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::ABORTED) << status.error_message();
  EXPECT_NE(status.error_message().find("signal"), std::string::npos) << status.error_message();
}

}  // namespace
}  // namespace tributary
