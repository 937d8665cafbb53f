// Who is called when a version is there, and in what order.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/shard/shard.h"
#include "tests/server/shard/shard_test_support.h"

namespace tributary {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ShardWaiting : public testing::Test {
 protected:
  void SetUp() override {
    shard_.Begin(ShardTestPlan(job_), [this](const Shard::StepResult& result) {
      if (in_step_callback_) in_step_callback_(result.version);
      heard_.push_back("step " + std::to_string(result.version));
    });
  }

  void CompleteStep(Step step) {
    const int64_t samples = ShardTestPlan(job_).StepSamples(step).size();
    ASSERT_TRUE(PushPart(shard_, step, {0, kTestElements}, {0, 5},
                         std::vector<float>(kTestElements, 1), {.samples = samples})
                    .ok());
  }

  // What the callback gets goes to heard_: the version, or the status' code.
  void Wait(Version version) {
    shard_.WhenVersion(version, [this](const absl::StatusOr<ParameterVersion>& found) {
      heard_.push_back(found.ok() ? "version " + std::to_string(found->version)
                                  : absl::StatusCodeToString(found.status().code()));
    });
  }

  const Job job_ = ShardTestJob({.kind = SgdConfig{}});
  Shard shard_{job_, 0, 1, kTestElements};
  std::function<void(Version)> in_step_callback_;
  std::vector<std::string> heard_;
};

TEST_F(ShardWaiting, AVersionThatIsThereIsGivenAtOnce) {
  Wait(0);
  EXPECT_THAT(heard_, ElementsAre("version 0"));
  CompleteStep(0);
  heard_.clear();
  Wait(0);
  Wait(1);
  EXPECT_THAT(heard_, ElementsAre("version 0", "version 1"));
}

TEST_F(ShardWaiting, AVersionThatIsGoneIsOutOfRange) {
  CompleteStep(0);
  CompleteStep(1);
  heard_.clear();
  Wait(0);
  Wait(-1);
  EXPECT_THAT(heard_, ElementsAre("OUT_OF_RANGE", "OUT_OF_RANGE"));
}

TEST_F(ShardWaiting, EveryoneIsCalledOnceAfterTheStepCallback) {
  Wait(2);
  Wait(1);
  Wait(1);
  EXPECT_THAT(heard_, IsEmpty());
  CompleteStep(0);
  EXPECT_THAT(heard_, ElementsAre("step 1", "version 1", "version 1"));
  heard_.clear();
  CompleteStep(1);
  EXPECT_THAT(heard_, ElementsAre("step 2", "version 2"));
}

TEST_F(ShardWaiting, WhoeverAsksBetweenTheStepAndItsCallbackWaitsForIt) {
  // Another thread may ask when the version is there and the step not yet reported: with the answer
  // goes the next work order, which the report decides.
  in_step_callback_ = [this](Version version) { Wait(version); };
  CompleteStep(0);
  EXPECT_THAT(heard_, ElementsAre("step 1", "version 1"));
}

TEST_F(ShardWaiting, TheStepCallbackFindsTheNewVersion) {
  Version found = -1;
  in_step_callback_ = [&](Version) { found = shard_.Get({})->version; };
  CompleteStep(0);
  EXPECT_EQ(found, 1);
}

TEST_F(ShardWaiting, ACallbackMayWaitAgain) {
  shard_.WhenVersion(1, [this](const absl::StatusOr<ParameterVersion>&) { Wait(2); });
  CompleteStep(0);
  CompleteStep(1);
  EXPECT_THAT(heard_, ElementsAre("step 1", "step 2", "version 2"));
}

TEST_F(ShardWaiting, StopEndsAllWaitingNowAndLater) {
  Wait(1);
  Wait(5);
  shard_.Stop(absl::AbortedError("the job has failed"));
  EXPECT_THAT(heard_, ElementsAre("ABORTED", "ABORTED"));
  Wait(1);
  Wait(0);
  EXPECT_THAT(heard_, ElementsAre("ABORTED", "ABORTED", "ABORTED", "ABORTED"));
}

TEST_F(ShardWaiting, NobodyIsCalledTwiceWhenAStepFollowsStop) {
  Wait(1);
  shard_.Stop(absl::AbortedError("the job has failed"));
  CompleteStep(0);
  EXPECT_THAT(heard_, ElementsAre("ABORTED", "step 1"));
  EXPECT_EQ(shard_.Get({})->version, 1);
}

}  // namespace
}  // namespace tributary
