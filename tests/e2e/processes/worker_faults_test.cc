// Workers that die, hang, come late: the job ends, and the model is the same to the bit as that of
// one process without a network.
#include <csignal>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/processes/roles.h"

namespace tributary {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Two servers and two workers, a and b; a lost worker is noticed within two seconds.
class WorkerFaultsTest : public RolesTest {
 protected:
  void SetUp() override {
    WriteJob(SmallJob(2));
    shard0_ = StartServer(0, {"--lease=2"});
    shard1_ = StartServer(1);
    a_ = StartWorker("a");
    b_ = StartWorker("b");
    ASSERT_TRUE(a_->WaitForErr("training\n", kPatience));
    ASSERT_TRUE(b_->WaitForErr("training\n", kPatience));
    WaitUntilTraining(*shard0_);
  }

  void ExpectSameModelAsLocal() {
    EXPECT_TRUE(Model() == LocalModel()) << "the model's bytes differ";
    EXPECT_THAT(orphans_.Remaining(), IsEmpty());
  }

  std::unique_ptr<Process> shard0_, shard1_, a_, b_;
};

TEST_F(WorkerFaultsTest, AKilledWorkersSlotsGoToTheOther) {
  b_->Signal(SIGKILL);
  ExpectDone({shard0_.get(), shard1_.get(), a_.get()});
  EXPECT_THAT(shard0_->Wait({}).err, HasSubstr("worker lost name=b "));
  ExpectSameModelAsLocal();
}

TEST_F(WorkerFaultsTest, ANewWorkerTakesThePlaceOfTheLastOneThatWasKilled) {
  a_->Signal(SIGKILL);
  b_->Signal(SIGKILL);
  ASSERT_TRUE(shard0_->WaitForErr("waiting for a worker\n", kPatience));
  const auto c = StartWorker("c");
  ExpectDone({shard0_.get(), shard1_.get(), c.get()});
  ExpectSameModelAsLocal();
}

TEST_F(WorkerFaultsTest, AWorkerThatWasHeldForLongerThanItsLeaseComesBack) {
  b_->Signal(SIGSTOP);
  ASSERT_TRUE(shard0_->WaitForErr("worker lost name=b ", kPatience)) << shard0_->Wait({}).err;
  // So that b has to compute again.
  a_->Signal(SIGSTOP);
  b_->Signal(SIGCONT);
  ASSERT_TRUE(b_->WaitForErr("joined again: the lease had run out\n", kPatience))
      << b_->Wait({}).err;
  a_->Signal(SIGCONT);
  ExpectDone({shard0_.get(), shard1_.get(), a_.get(), b_.get()});
  ExpectSameModelAsLocal();
}

TEST_F(WorkerFaultsTest, AWorkerThatComesLateTakesPart) {
  // The job stands still meanwhile, so that it cannot end before.
  a_->Signal(SIGSTOP);
  const auto c = StartWorker("c");
  ASSERT_TRUE(c->WaitForErr("training\n", kPatience)) << c->Wait({}).err;
  a_->Signal(SIGCONT);
  ExpectDone({shard0_.get(), shard1_.get(), a_.get(), b_.get(), c.get()});
  EXPECT_THAT(shard0_->Wait({}).err, HasSubstr("worker joined name=c workers="));
  ExpectSameModelAsLocal();
}

}  // namespace
}  // namespace tributary
