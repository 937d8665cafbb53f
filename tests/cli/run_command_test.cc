// `tributary run` as a whole, with stand-ins for the servers and workers that it starts.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cli/fake_programs.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace tributary {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::Duration kPatience = absl::Seconds(60);

constexpr char kJob[] = R"(name: "small"
model {
  input { channels: 1 height: 8 width: 8 }
  layer { flatten {} }
  layer { name: "fc1" dense { out_features: 10 } }
  layer { softmax_cross_entropy {} }
}
data { format: SYNTHETIC classes: 10 synthetic_train_samples: 64 }
optimizer { sgd {} }
learning_rate { base: 0.1 }
training { epochs: 1 global_batch: 16 slots: 2 }
)";

// The program, in a folder with its stand-in companions: it looks for them beside itself.
class RunCommandTest : public ::testing::Test {
 protected:
  RunCommandTest() {
    std::filesystem::copy_file(ProgramFolder() + "/tributary", folder_.File("tributary"));
    std::filesystem::create_directory(folder_.File("tmp"));
    folder_.Write("job.textproto", kJob);
  }

  std::unique_ptr<Process> Start(const std::vector<std::string>& options = {}) {
    std::vector<std::string> command = {
        folder_.File("tributary"), "run", "job.textproto", "--servers", "2", "--workers", "2"};
    command.insert(command.end(), options.begin(), options.end());
    Process::Options process;
    process.environment = {"TMPDIR=" + folder_.File("tmp")};
    process.working_folder = folder_.path();
    process.own_group = true;
    return Process::Start(command, process);
  }

  // Until a stand-in has made this file.
  void WaitForFile(const std::string& name) const {
    const absl::Time deadline = absl::Now() + kPatience;
    while (!std::filesystem::exists(folder_.File(name)) && absl::Now() < deadline) {
      absl::SleepFor(absl::Milliseconds(1));
    }
  }

  void ExpectNothingIsLeft() {
    EXPECT_THAT(orphans_.Remaining(absl::Seconds(10)), IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(folder_.File("tmp")));
  }

  OrphanCatcher orphans_;
  TempDir folder_;
};

const std::string kServeAndWait = std::string(kEndWhenAsked) + kListen + kServeForever;
const std::string kWorkAndWait =
    std::string(kEndWhenAsked) + "touch \"$folder/working\"\n" + kServeForever;

TEST_F(RunCommandTest, EndsWithTheAccuracyAndWritesTheJson) {
  WriteFakePrograms(folder_, std::string(kListen) + kServeUntilEnd, "touch \"$folder/end\"\n");
  const std::unique_ptr<Process> process = Start({"--json", "out.json", "--model-out", "m.st"});
  const ProcessOutcome outcome = process->Wait(kPatience);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "model: m.st\n"
            "trained: 938 steps, 60,000 images in 1.5 s, 40,000 images/s\n"
            "test loss: 0.2500\n"
            "test accuracy: 0.9123\n");
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("small: 2 servers, 2 workers of 1 thread; "
                                           "64 training images, 256 test images\n"),
                                 HasSubstr("test accuracy 0.9123, test loss 0.2500\n")));
  std::ifstream file(folder_.File("out.json"));
  const std::string json{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_THAT(json, AllOf(HasSubstr("\"test_accuracy\": 0.9123"), HasSubstr("\"steps\": 938"),
                          HasSubstr("\"images_per_second\": 40000.0")));
  ExpectNothingIsLeft();
}

TEST_F(RunCommandTest, CtrlCEndsEveryProcess) {
  WriteFakePrograms(folder_, kServeAndWait, kWorkAndWait);
  const std::unique_ptr<Process> process = Start();
  WaitForFile("working");
  process->SignalGroup(SIGINT);  // as a terminal does
  const ProcessOutcome outcome = process->Wait(kPatience);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("interrupted"));
  ExpectNothingIsLeft();
}

TEST_F(RunCommandTest, ATerminationSignalEndsEveryProcess) {
  WriteFakePrograms(folder_, kServeAndWait, kWorkAndWait);
  const std::unique_ptr<Process> process = Start();
  WaitForFile("working");
  process->Signal(SIGTERM);
  EXPECT_EQ(process->Wait(kPatience).exit_code, 143);
  ExpectNothingIsLeft();
}

TEST_F(RunCommandTest, ProcessesDoNotOutliveAKilledProgram) {
  WriteFakePrograms(folder_, kServeAndWait, kWorkAndWait);
  const std::unique_ptr<Process> process = Start();
  WaitForFile("working");
  process->Signal(SIGKILL);
  EXPECT_EQ(process->Wait(kPatience).signal, SIGKILL);
  EXPECT_THAT(orphans_.Remaining(absl::Seconds(10)), IsEmpty());
}

TEST_F(RunCommandTest, ALostWorkerEndsTheRunAndIsExplained) {
  WriteFakePrograms(folder_, kServeAndWait, "echo out of memory; exit 1\n");
  const std::unique_ptr<Process> process = Start({"--log-dir", "logs"});
  const ProcessOutcome outcome = process->Wait(kPatience);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("ended with exit code 1; the end of its log:\n"
                                     "  out of memory\n"
                                     "the logs are in logs\n"));
  ExpectNothingIsLeft();
}

}  // namespace
}  // namespace tributary
