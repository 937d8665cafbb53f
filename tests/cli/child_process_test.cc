#include "cli/child_process.h"

#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ChildProcessTest : public ::testing::Test {
 protected:
  absl::StatusOr<ChildProcess> StartShell(const std::string& script) {
    return ChildProcess::Start({"/bin/sh", "-c", script}, log());
  }

  // Sleeps until the process has ended.
  static ProcessEnd EndOf(ChildProcess& child) {
    pollfd watched{child.descriptor(), POLLIN, 0};
    ::poll(&watched, 1, -1);
    EXPECT_TRUE(child.Check());
    return child.end().value_or(ProcessEnd{});
  }

  std::string log() const { return folder_.File("log"); }

  OrphanCatcher orphans_;
  TempDir folder_;
};

TEST_F(ChildProcessTest, TellsTheExitCode) {
  for (const int code : {0, 1, 2, 137}) {
    absl::StatusOr<ChildProcess> child = StartShell(absl::StrCat("exit ", code));
    ASSERT_TRUE(child.ok()) << child.status();
    const ProcessEnd end = EndOf(*child);
    EXPECT_EQ(end.code, code);
    EXPECT_EQ(end.signal, 0);
    EXPECT_EQ(end.is_success(), code == 0);
  }
}

TEST_F(ChildProcessTest, TellsTheSignal) {
  absl::StatusOr<ChildProcess> child = StartShell("kill -SEGV $$");
  ASSERT_TRUE(child.ok()) << child.status();
  const ProcessEnd end = EndOf(*child);
  EXPECT_EQ(end.signal, SIGSEGV);
  EXPECT_FALSE(end.is_success());
  EXPECT_EQ(DescribeEnd(end), "signal 11 (Segmentation fault)");
  EXPECT_EQ(DescribeEnd({.code = 3}), "exit code 3");
}

TEST_F(ChildProcessTest, OutputAndErrorGoToTheLog) {
  absl::StatusOr<ChildProcess> child = StartShell("echo out; echo err >&2; read line || echo eof");
  ASSERT_TRUE(child.ok()) << child.status();
  EndOf(*child);
  EXPECT_THAT(LastLines(log(), 10), ElementsAre("out", "err", "eof"));
}

TEST_F(ChildProcessTest, ARunningProcessHasNoEnd) {
  absl::StatusOr<ChildProcess> child = StartShell("exec sleep 1000");
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_FALSE(child->Check());
  EXPECT_FALSE(child->end().has_value());
  child->Signal(SIGTERM);
  EXPECT_EQ(EndOf(*child).signal, SIGTERM);
  child->Signal(SIGTERM);  // nobody is hit
}

TEST_F(ChildProcessTest, IsKilledAndWaitedForWhenItIsDropped) {
  {
    absl::StatusOr<ChildProcess> child = StartShell("trap '' TERM INT; exec sleep 1000");
    ASSERT_TRUE(child.ok()) << child.status();
  }
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

TEST_F(ChildProcessTest, RunsInAProcessGroupOfItsOwn) {
  absl::StatusOr<ChildProcess> child = StartShell("exec sleep 1000");
  ASSERT_TRUE(child.ok()) << child.status();
  EXPECT_EQ(::getpgid(child->pid()), child->pid());
}

TEST_F(ChildProcessTest, StartsWithoutBlockedOrIgnoredSignals) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  std::signal(SIGPIPE, SIG_IGN);
  absl::StatusOr<ChildProcess> child = StartShell("exec grep -E '^Sig(Blk|Ign)' /proc/self/status");
  sigprocmask(SIG_SETMASK, &before, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  ASSERT_TRUE(child.ok()) << child.status();
  EndOf(*child);
  const std::vector<std::string> lines = LastLines(log(), 10);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_EQ(lines[0], "SigBlk:\t0000000000000000");
  // proc(5): bit n - 1 is signal n; SIGINT, SIGPIPE and SIGTERM are 2, 13 and 15.
  const uint64_t ignored = std::stoull(lines[1].substr(lines[1].find('\t') + 1), nullptr, 16);
  EXPECT_EQ(ignored & (1U << 1 | 1U << 12 | 1U << 14), 0U);
}

TEST_F(ChildProcessTest, AProgramThatIsNotThereIsAnError) {
  const absl::StatusOr<ChildProcess> child = ChildProcess::Start({"/nowhere/program"}, log());
  ASSERT_FALSE(child.ok());
  EXPECT_THAT(std::string(child.status().message()),
              HasSubstr("/nowhere/program: cannot be started: No such file or directory"));
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
}

TEST_F(ChildProcessTest, ALogThatCannotBeWrittenIsAnError) {
  const absl::StatusOr<ChildProcess> child =
      ChildProcess::Start({"/bin/true"}, folder_.File("no/log"));
  ASSERT_FALSE(child.ok());
  EXPECT_THAT(std::string(child.status().message()), HasSubstr("no/log"));
}

TEST_F(ChildProcessTest, LastLinesAreThoseAtTheEnd) {
  const std::string text = folder_.Write("text", "one\ntwo\nthree\n\n");
  EXPECT_THAT(LastLines(text, 2), ElementsAre("two", "three"));
  EXPECT_THAT(LastLines(text, 9), ElementsAre("one", "two", "three"));
  EXPECT_THAT(LastLines(folder_.Write("empty", ""), 9), IsEmpty());
  EXPECT_THAT(LastLines(folder_.File("missing"), 9), IsEmpty());
  EXPECT_THAT(LastLines(folder_.Write("unfinished", "a\nb"), 9), ElementsAre("a", "b"));
}

TEST_F(ChildProcessTest, AHugeLogIsReadFromItsEndAlone) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) absl::StrAppend(&text, "line ", i, "\n");
  EXPECT_THAT(LastLines(folder_.Write("log", text), 2), ElementsAre("line 99998", "line 99999"));
  // A first line that was cut is left out.
  EXPECT_THAT(LastLines(folder_.Write("log", text), 100'000)[0], HasSubstr("line "));
  // A single line beyond what is read is better than nothing.
  EXPECT_THAT(LastLines(folder_.Write("log", std::string(20'000, 'x')), 2), SizeIs(1));
}

}  // namespace
}  // namespace tributary
