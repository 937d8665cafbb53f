#include "cli/process_group.h"

#include <unistd.h>

#include <csignal>
#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace tributary {
namespace {

using ::testing::IsEmpty;

// Ignores SIGTERM; says so once it does.
constexpr char kStubborn[] = "trap '' TERM; echo ready; while :; do sleep 0.02; done";

class ProcessGroupTest : public ::testing::Test {
 protected:
  void Start(const std::string& name, const std::string& script) {
    ASSERT_TRUE(group_.Start(name, {"/bin/sh", "-c", script}, Log(name)).ok());
  }
  void WaitForAll() {
    while (!group_.AllEnded()) group_.Wait(-1, absl::InfiniteDuration());
  }
  void WaitUntilReady(const std::string& name) {
    while (LastLines(Log(name), 1).empty()) absl::SleepFor(absl::Milliseconds(1));
  }
  std::string WorstName() {
    const ProcessGroup::Member* worst = group_.WorstFailure();
    return worst == nullptr ? "none" : worst->name;
  }
  std::string Log(const std::string& name) const { return folder_.File(name); }

  OrphanCatcher orphans_;
  TempDir folder_;
  Interrupts interrupts_;
  ProcessGroup group_;
};

TEST_F(ProcessGroupTest, WaitReturnsWhenAMemberEnds) {
  Start("long", "exec sleep 1000");
  Start("short", "exit 0");
  while (!group_.members()[1].has_ended()) group_.Wait(-1, absl::InfiniteDuration());
  EXPECT_FALSE(group_.members()[0].has_ended());
  EXPECT_FALSE(group_.AllEnded());
  EXPECT_EQ(WorstName(), "none");
}

TEST_F(ProcessGroupTest, WaitReturnsWhenTheDescriptorIsReadable) {
  Start("long", "exec sleep 1000");
  ::kill(::getpid(), SIGINT);
  group_.Wait(interrupts_.descriptor(), absl::InfiniteDuration());
  EXPECT_EQ(interrupts_.Take(), SIGINT);
  EXPECT_EQ(interrupts_.Take(), 0);
}

TEST_F(ProcessGroupTest, WaitReturnsWhenPatienceIsOver) {
  Start("long", "exec sleep 1000");
  group_.Wait(-1, absl::Milliseconds(1));
  EXPECT_FALSE(group_.AllEnded());
}

TEST_F(ProcessGroupTest, TheFirstFailureIsTheWorstOfEqualOnes) {
  Start("second", "while [ ! -e " + folder_.File("go") + " ]; do sleep 0.01; done; exit 1");
  Start("first", "exit 1");
  while (!group_.members()[1].has_ended()) group_.Wait(-1, absl::InfiniteDuration());
  folder_.Write("go", "");
  WaitForAll();
  EXPECT_EQ(WorstName(), "first");
}

TEST_F(ProcessGroupTest, ASignalIsWorseThanACodeAndBadInputIsWorst) {
  Start("failed", "exit 1");
  WaitForAll();
  EXPECT_EQ(WorstName(), "failed");
  Start("crashed", "kill -ABRT $$");
  WaitForAll();
  EXPECT_EQ(WorstName(), "crashed");
  Start("refused", "exit 2");
  WaitForAll();
  EXPECT_EQ(WorstName(), "refused");
}

TEST_F(ProcessGroupTest, StopIsNoFailureOfTheStopped) {
  Start("polite", "trap 'exit 0' TERM; echo ready; while :; do sleep 0.02; done");
  Start("plain", "exec sleep 1000");
  WaitUntilReady("polite");
  EXPECT_FALSE(group_.Stop(absl::Seconds(60), interrupts_));
  EXPECT_TRUE(group_.AllEnded());
  EXPECT_EQ(WorstName(), "none");
}

TEST_F(ProcessGroupTest, StopKillsWhoIgnoresIt) {
  Start("stubborn", kStubborn);
  WaitUntilReady("stubborn");
  EXPECT_TRUE(group_.Stop(absl::Milliseconds(50), interrupts_));
  EXPECT_EQ(group_.members()[0].process.end()->signal, SIGKILL);
  EXPECT_EQ(WorstName(), "none");
}

TEST_F(ProcessGroupTest, AnotherInterruptKillsAtOnce) {
  Start("stubborn", kStubborn);
  WaitUntilReady("stubborn");
  ::kill(::getpid(), SIGINT);
  // Would wait for ever without it.
  EXPECT_TRUE(group_.Stop(absl::InfiniteDuration(), interrupts_));
  EXPECT_EQ(group_.members()[0].process.end()->signal, SIGKILL);
}

TEST_F(ProcessGroupTest, NothingIsLeftWhenItIsDropped) {
  {
    ProcessGroup group;
    for (const char* name : {"a", "b", "c"}) {
      ASSERT_TRUE(group.Start(name, {"/bin/sleep", "1000"}, Log(name)).ok());
    }
  }
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

}  // namespace
}  // namespace tributary
