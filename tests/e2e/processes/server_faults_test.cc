// Servers that die. (Until parameters are kept on disk this is the end of the job.) Everybody ends,
// with one line that names the server.
#include <csignal>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/processes/roles.h"

namespace tributary {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ServerFaultsTest : public RolesTest {
 protected:
  void SetUp() override { WaitUntilTraining(*shard0_); }

  static void ExpectFailed(Process& role, const ::testing::Matcher<std::string>& reason) {
    const ProcessOutcome outcome = role.Wait(kPatience);
    EXPECT_FALSE(outcome.timed_out) << "it was killed after " << kPatience;
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_THAT(ErrorLines(outcome.err), ElementsAre(reason)) << outcome.err;
  }

  const std::unique_ptr<Process> shard0_ = StartServer(0, {kEndless, "--lease=2"});
  const std::unique_ptr<Process> shard1_ = StartServer(1, {"--peer-timeout=1"});
  const std::unique_ptr<Process> worker_ = StartWorker("w", {"--peer-timeout=1"});
};

TEST_F(ServerFaultsTest, AKilledShardEndsTheJob) {
  shard1_->Signal(SIGKILL);
  const auto reason = AllOf(HasSubstr("shard 1 at 127.0.0.1:"), HasSubstr(" silent for 2 seconds"));
  ExpectFailed(*shard0_, reason);
  // The worker hears it from the coordinator, or gives the shard up by itself.
  ExpectFailed(*worker_, HasSubstr("shard 1 at 127.0.0.1:"));
  EXPECT_EQ(Model(), "");
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

TEST_F(ServerFaultsTest, AShardThatHangsEndsTheJob) {
  shard1_->Signal(SIGSTOP);
  ExpectFailed(*shard0_, HasSubstr("shard 1 at 127.0.0.1:"));
  ExpectFailed(*worker_, HasSubstr("shard 1 at 127.0.0.1:"));
  // When it wakes up it finds what it was told meanwhile, or nobody.
  shard1_->Signal(SIGCONT);
  ExpectFailed(*shard1_, AnyOf(HasSubstr("shard 1 at 127.0.0.1:"),
                               HasSubstr("the coordinator at " + coordinator_)));
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

TEST_F(ServerFaultsTest, AKilledCoordinatorIsGivenUp) {
  shard0_->Signal(SIGKILL);
  // The worker calls shard 0 in both of its roles.
  ExpectFailed(*worker_, HasSubstr(coordinator_ + " has been away for 1s"));
  ExpectFailed(*shard1_, HasSubstr("the coordinator at " + coordinator_ + " has been away for 1s"));
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

}  // namespace
}  // namespace tributary
