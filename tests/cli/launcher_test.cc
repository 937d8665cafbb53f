#include "cli/launcher.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/fake_programs.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace tributary {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

class LauncherTest : public ::testing::Test {
 protected:
  LauncherTest() {
    ::setenv("TMPDIR", temporary_.path().c_str(), 1);
    options_.program_folder = programs_.path();
    options_.job_file = "some/job.textproto";
    options_.servers = 2;
    options_.workers = 2;
    options_.note = [this](const std::string& line) { notes_.push_back(line); };
  }
  ~LauncherTest() override { ::unsetenv("TMPDIR"); }

  ClusterOutcome Run() {
    Interrupts interrupts;
    ClusterOutcome outcome = RunCluster(options_, interrupts);
    // The scripts' own short sleeps may last a little longer than they do.
    EXPECT_THAT(orphans_.Remaining(absl::Seconds(10)), IsEmpty());
    return outcome;
  }

  std::vector<std::string> LinesOf(const std::string& name) const {
    std::vector<std::string> lines;
    std::ifstream file(programs_.File(name));
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  bool WasAsked(const std::string& member) const {
    return std::filesystem::exists(programs_.File(member + "-asked"));
  }
  // What was left in the folder for temporary files.
  std::vector<std::string> TemporaryFiles() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(temporary_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  OrphanCatcher orphans_;
  TempDir temporary_;
  TempDir programs_;
  ClusterOptions options_;
  std::vector<std::string> notes_;
};

const std::string kGoodServer = std::string(kListen) + kServeUntilEnd;
const std::string kGoodWorker = "touch \"$folder/end\"; exit 0\n";
const std::string kServer = std::string(kEndWhenAsked) + kListen + kServeForever;

TEST_F(LauncherTest, GivesTheResultOfShard0) {
  WriteFakePrograms(programs_, kGoodServer, kGoodWorker);
  const ClusterOutcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.message;
  EXPECT_EQ(outcome.result.test_correct, 9123);
  EXPECT_EQ(outcome.result.steps, 938);
  EXPECT_DOUBLE_EQ(outcome.result.images_per_second(), 40000);
  EXPECT_THAT(TemporaryFiles(), IsEmpty());
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(LauncherTest, TellsEachProcessWhatItNeeds) {
  WriteFakePrograms(programs_, kGoodServer, kGoodWorker);
  options_.overrides = {"training.epochs=3", "seed=7"};
  options_.model_out = "out/model.safetensors";
  options_.threads = 3;
  std::string address;
  options_.on_started = [&address](const std::string& started) { address = started; };
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_EQ(address, "127.0.0.1:4711");
  EXPECT_THAT(
      LinesOf("server-calls"),
      ElementsAre(AllOf(HasSubstr("--shard 0 --shards 2 --listen 127.0.0.1:0 --address-file "),
                        HasSubstr(" --job some/job.textproto --set training.epochs=3 --set seed=7 "
                                  "--model-out out/model.safetensors --result-json ")),
                  "--shard 1 --shards 2 --listen 127.0.0.1:0 --coordinator 127.0.0.1:4711"));
  EXPECT_THAT(LinesOf("worker-calls"), ElementsAre("--coordinator 127.0.0.1:4711 --threads 3",
                                                   "--coordinator 127.0.0.1:4711 --threads 3"));
}

TEST_F(LauncherTest, LogsGoToTheFolderThatIsAskedFor) {
  WriteFakePrograms(programs_, "echo hello from $shard\n" + kGoodServer, kGoodWorker);
  options_.log_folder = programs_.File("new/logs");
  EXPECT_EQ(Run().exit_code, 0);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(options_.log_folder)) {
    names.push_back(entry.path().filename());
  }
  EXPECT_THAT(names,
              UnorderedElementsAre("server-0.log", "server-1.log", "worker-0.log", "worker-1.log"));
  EXPECT_THAT(LinesOf("new/logs/server-1.log"), ElementsAre("hello from 1"));
  EXPECT_THAT(TemporaryFiles(), IsEmpty());
}

TEST_F(LauncherTest, AWorkerThatFailsStopsAllAndIsNamed) {
  WriteFakePrograms(programs_, kServer,
                    "mkdir \"$folder/first\" || exec sleep 1000\n"
                    "echo one; echo the reason >&2; exit 3\n");
  const ClusterOutcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.message, AllOf(HasSubstr("worker "), HasSubstr("exit code 3"),
                                     HasSubstr("\n  one\n  the reason\n"),
                                     HasSubstr("the logs are in " + temporary_.path())));
  EXPECT_TRUE(WasAsked("server-0"));
  EXPECT_THAT(TemporaryFiles(), SizeIs(1)) << "the logs are kept";
}

TEST_F(LauncherTest, AWorkerThatWasGivenBadInputSetsTheExitCode) {
  WriteFakePrograms(programs_, kServer, "echo data differ; exit 2\n");
  const ClusterOutcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.message, HasSubstr("exit code 2; the end of its log:\n  data differ"));
}

TEST_F(LauncherTest, AKilledWorkerIsTold) {
  WriteFakePrograms(programs_, kServer, "kill -KILL $$\n");
  const ClusterOutcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.message, HasSubstr("signal 9 (Killed); its log is empty"));
}

TEST_F(LauncherTest, AServerThatEndsBeforeItListensStartsNothingElse) {
  WriteFakePrograms(programs_, "echo no memory; exit 1\n", kGoodWorker);
  const ClusterOutcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.message, AllOf(HasSubstr("server 0"), HasSubstr("no memory")));
  EXPECT_THAT(LinesOf("server-calls"), SizeIs(1));
  EXPECT_THAT(LinesOf("worker-calls"), IsEmpty());
}

TEST_F(LauncherTest, AServerThatEndsWithoutListeningIsAFailureEvenWithCode0) {
  WriteFakePrograms(programs_, "exit 0\n", kGoodWorker);
  const ClusterOutcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.message, HasSubstr("server 0 ended before it listened"));
}

TEST_F(LauncherTest, AServerThatEndsWithoutAResultIsAFailure) {
  WriteFakePrograms(programs_, std::string(kListen) + "exit 0\n", "exit 0\n");
  const ClusterOutcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.message, HasSubstr("server 0 ended without a result"));
}

TEST_F(LauncherTest, AResultThatIsNoneIsAFailure) {
  WriteFakePrograms(programs_, std::string(kListen) + "echo '{}' > \"$result_json\"\nexit 0\n",
                    "exit 0\n");
  options_.servers = 1;
  const ClusterOutcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.message, HasSubstr("server 0's result: test_count"));
}

TEST_F(LauncherTest, MissingProgramsAreAFailure) {
  const ClusterOutcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.message,
              AllOf(HasSubstr("tributary-server: cannot be started"), Not(HasSubstr("\n"))));
  EXPECT_THAT(TemporaryFiles(), IsEmpty());
}

class LauncherSignalTest : public LauncherTest, public ::testing::WithParamInterface<int> {};
INSTANTIATE_TEST_SUITE_P(Signals, LauncherSignalTest, ::testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST_P(LauncherSignalTest, EndsEveryProcessCleanly) {
  WriteFakePrograms(programs_, kServer, std::string(kEndWhenAsked) + kServeForever);
  options_.on_started = [](const std::string&) { ::kill(::getpid(), GetParam()); };
  const ClusterOutcome outcome = Run();
  EXPECT_EQ(outcome.exit_code, 128 + GetParam());
  EXPECT_EQ(outcome.message, "interrupted");
  EXPECT_TRUE(WasAsked("server-0"));
  EXPECT_THAT(TemporaryFiles(), IsEmpty());
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("interrupted")));
}

TEST_F(LauncherTest, AnInterruptWhileServer0StartsStartsNothingElse) {
  WriteFakePrograms(programs_, std::string("kill -INT $PPID\n") + kServeForever, kGoodWorker);
  EXPECT_EQ(Run().exit_code, 130);
  EXPECT_THAT(LinesOf("worker-calls"), IsEmpty());
}

TEST_F(LauncherTest, ASecondInterruptDoesNotWaitForTheStubborn) {
  // The worker sends the second one when it has been asked to stop; it does not stop.
  WriteFakePrograms(
      programs_, std::string(kIgnoreTerm) + kListen + kServeForever,
      std::string("trap 'kill -INT $PPID' TERM; touch \"$folder/trapped\"\n") + kServeForever);
  options_.workers = 1;
  options_.on_started = [this](const std::string&) {
    while (!std::filesystem::exists(programs_.File("trapped"))) {
    }
    ::kill(::getpid(), SIGINT);
  };
  EXPECT_EQ(Run().exit_code, 130);
}

}  // namespace
}  // namespace tributary
