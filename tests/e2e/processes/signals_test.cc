// SIGTERM and SIGINT to every role, while it waits and while it trains: it ends with code 0, soon,
// and the others go on or end with the reason.
#include <csignal>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/processes/roles.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// What a supervisor gives a program before it kills it is 10 seconds and more (docker stop); a
// `tributary run` gives 5.
constexpr absl::Duration kSoon = absl::Seconds(4);

class SignalTest : public RolesTest, public ::testing::WithParamInterface<int> {
 protected:
  void ExpectEndsSoon(Process& role) const {
    role.Signal(GetParam());
    const ProcessOutcome outcome = role.Wait(kSoon);
    EXPECT_FALSE(outcome.timed_out) << "it was killed after " << kSoon;
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("ended by signal " + std::to_string(GetParam())));
    EXPECT_THAT(ErrorLines(outcome.err), IsEmpty());
  }
  static void ExpectFailed(Process& role, const std::string& reason) {
    const ProcessOutcome outcome = role.Wait(kPatience);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_THAT(ErrorLines(outcome.err), ElementsAre(HasSubstr(reason)));
  }
};

TEST_P(SignalTest, EndsAWorkerThatWaitsForTheCoordinator) {
  const auto worker = StartWorker("w");
  ASSERT_TRUE(worker->WaitForErr("waiting for the coordinator", kPatience));
  ExpectEndsSoon(*worker);
}

TEST_P(SignalTest, EndsAWorkerThatWaitsForAShardAndTheJobWaitsForAnother) {
  const auto shard0 = StartServer(0, {"--set=training.epochs=20"});
  const auto first = StartWorker("first");
  ASSERT_TRUE(first->WaitForErr("joined, waiting for shard 1", kPatience));
  ExpectEndsSoon(*first);
  const auto shard1 = StartServer(1);
  const auto second = StartWorker("second");
  ExpectDone({shard0.get(), shard1.get(), second.get()});
}

TEST_P(SignalTest, EndsAShardThatWaitsForTheCoordinator) {
  const auto shard1 = StartServer(1);
  ASSERT_TRUE(shard1->WaitForErr("waiting for the coordinator", kPatience));
  ExpectEndsSoon(*shard1);
}

TEST_P(SignalTest, EndsAShardThatWaitsForWorkersAndAnotherTakesItsPlace) {
  const auto shard0 = StartServer(0, {"--set=training.epochs=20", "--lease=2"});
  const auto first = StartServer(1);
  ASSERT_TRUE(first->WaitForErr("registered", kPatience));
  ExpectEndsSoon(*first);
  // The place is held until shard 0 has not heard of the first for the time of a lease.
  auto second = StartServer(1);
  for (int tries = 0; tries < 1000 && !second->WaitForErr("registered", kPatience); ++tries) {
    EXPECT_THAT(second->Wait(kPatience).err, HasSubstr("shard 1: found a second process"));
    second = StartServer(1);
  }
  const auto worker = StartWorker("w");
  ExpectDone({shard0.get(), second.get(), worker.get()});
}

TEST_P(SignalTest, EndsACoordinatorThatWaitsForEverybody) {
  const auto shard0 = StartServer(0);
  ASSERT_TRUE(shard0->WaitForErr("waiting for shard 1, workers", kPatience));
  ExpectEndsSoon(*shard0);
}

TEST_P(SignalTest, EndsACoordinatorThatWaitsAndTheJobWithIt) {
  const auto shard0 = StartServer(0);
  const auto shard1 = StartServer(1);
  ASSERT_TRUE(shard1->WaitForErr("registered", kPatience));
  ExpectEndsSoon(*shard0);
  ExpectFailed(*shard1, "the job was stopped: shard 0 got a signal");
}

TEST_P(SignalTest, EndsAWorkerThatTrainsAndAnotherTakesItsWork) {
  WriteJob(SmallJob(2));
  // The other hears of work that is left when it renews its lease, three times in a lease.
  const auto shard0 = StartServer(0, {"--lease=3"});
  const auto shard1 = StartServer(1);
  const auto a = StartWorker("a");
  const auto b = StartWorker("b");
  WaitUntilTraining(*shard0);
  ExpectEndsSoon(*b);
  ExpectDone({shard0.get(), shard1.get(), a.get()});
  EXPECT_THAT(shard0->Wait({}).err, HasSubstr("worker left workers=1\n"));
  EXPECT_EQ(Model(), LocalModel());
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

TEST_P(SignalTest, EndsTheLastWorkerAndTheJobWaitsForAnother) {
  const auto shard0 = StartServer(0);
  const auto shard1 = StartServer(1);
  const auto a = StartWorker("a");
  WaitUntilTraining(*shard0);
  ExpectEndsSoon(*a);
  ASSERT_TRUE(shard0->WaitForErr("waiting for a worker\n", kPatience)) << shard0->Wait({}).err;
  const auto b = StartWorker("b");
  ExpectDone({shard0.get(), shard1.get(), b.get()});
  EXPECT_EQ(Model(), LocalModel());
}

TEST_P(SignalTest, EndsAShardThatServesAndTheJobFails) {
  const auto shard0 = StartServer(0, {kEndless, "--lease=2"});
  const auto shard1 = StartServer(1);
  const auto worker = StartWorker("w");
  WaitUntilTraining(*shard0);
  ExpectEndsSoon(*shard1);
  ExpectFailed(*shard0, "shard 1 at ");
  ExpectFailed(*worker, "shard 1 at ");
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

TEST_P(SignalTest, EndsACoordinatorThatServesAndTheJobWithIt) {
  const auto shard0 = StartServer(0, {kEndless});
  const auto shard1 = StartServer(1);
  const auto worker = StartWorker("w");
  WaitUntilTraining(*shard0);
  ExpectEndsSoon(*shard0);
  ExpectFailed(*shard1, "the job was stopped: shard 0 got a signal");
  ExpectFailed(*worker, "the job was stopped: shard 0 got a signal");
  EXPECT_EQ(Model(), "");
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Signals, SignalTest, ::testing::Values(SIGTERM, SIGINT),
                         [](const auto& test) { return test.param == SIGTERM ? "Term" : "Int"; });

}  // namespace
}  // namespace tributary
