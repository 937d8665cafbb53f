// `tributary run` with the real servers and workers.
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/e2e/processes/roles.h"

namespace tributary {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    std::filesystem::create_directory(folder_.File("tmp"));
    folder_.Write("small.textproto", SmallJob(2));
  }

  std::unique_ptr<Process> Start(const std::string& job, const std::vector<std::string>& more) {
    std::vector<std::string> command = {ProgramFolder() + "/tributary", "run", job};
    command.insert(command.end(), more.begin(), more.end());
    Process::Options options;
    options.environment = {"TMPDIR=" + folder_.File("tmp")};
    options.own_group = true;
    return Process::Start(command, options);
  }
  // The model file's bytes.
  std::string Train(const std::string& job, std::vector<std::string> more) {
    const std::string path = folder_.File("model.safetensors");
    std::filesystem::remove(path);
    more.insert(more.end(), {"--model-out", path});
    const ProcessOutcome outcome = Start(job, more)->Wait(kPatience);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, Not(HasSubstr("still runs"))) << "somebody did not end by itself";
    ExpectNothingIsLeft();
    return Content(path);
  }
  void ExpectNothingIsLeft() {
    EXPECT_THAT(orphans_.Remaining(), IsEmpty());
    EXPECT_TRUE(std::filesystem::is_empty(folder_.File("tmp")));
  }

  OrphanCatcher orphans_;
  TempDir folder_;
};

class ExampleTest : public RunTest, public ::testing::WithParamInterface<const char*> {};

// The examples on 700 synthetic images, so that the data need not be here: 10 steps of 64 and one
// of 60 an epoch; the third epoch is cut short. It begins with both workers, so that it cannot end
// before the second one is there.
TEST_P(ExampleTest, EndsWithTheSameModelInEveryCluster) {
  const std::string job = std::string("examples/") + GetParam() + ".textproto";
  const std::vector<std::string> common = {
      "--set=data.format=SYNTHETIC",           "--set=data.synthetic_train_samples=700",
      "--set=data.synthetic_test_samples=210", "--set=evaluation.batch=64",
      "--set=training.max_steps=25",           "--set=training.min_workers=2"};
  const auto train = [&](std::vector<std::string> cluster) {
    cluster.insert(cluster.end(), common.begin(), common.end());
    return Train(job, cluster);
  };
  const std::string local = train({"--local"});
  ASSERT_FALSE(local.empty());
  EXPECT_TRUE(train({"--servers=2", "--workers=2"}) == local);
  EXPECT_TRUE(train({"--servers=3", "--workers=2"}) == local);
  EXPECT_TRUE(train({"--servers=1", "--workers=2", "--threads=2"}) == local);
  EXPECT_FALSE(train({"--servers=2", "--workers=2", "--set=seed=2"}) == local);
}

INSTANTIATE_TEST_SUITE_P(Examples, ExampleTest,
                         ::testing::Values("mnist_cnn", "mnist_tf_cnn", "fashion_mnist_cnn"),
                         [](const auto& test) { return std::string(test.param); });

TEST_F(RunTest, TwoAtOnce) {
  const std::string job = folder_.File("small.textproto");
  const std::vector<std::string> cluster = {"--servers=2", "--workers=2",
                                            "--set=training.epochs=100"};
  const auto one = Start(job, cluster);
  const auto other = Start(job, cluster);
  const ProcessOutcome first = one->Wait(kPatience);
  const ProcessOutcome second = other->Wait(kPatience);
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(second.exit_code, 0) << second.err;
  const auto accuracy = [](const std::string& out) { return out.substr(out.find("test loss: ")); };
  EXPECT_THAT(first.out, HasSubstr("\ntest accuracy: 0."));
  EXPECT_EQ(accuracy(first.out), accuracy(second.out));
  ExpectNothingIsLeft();
}

TEST_F(RunTest, CtrlCEndsEveryProcessAndTheNextRunWorks) {
  const std::string job = folder_.File("small.textproto");
  const auto run = Start(job, {"--servers=2", "--workers=2", kEndless});
  ASSERT_TRUE(run->WaitForErr("test accuracy ", kPatience));
  run->SignalGroup(SIGINT);  // as a terminal does
  const ProcessOutcome outcome = run->Wait(kPatience);
  EXPECT_EQ(outcome.exit_code, 130) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, EndsWith("interrupted\n"));
  ExpectNothingIsLeft();
  EXPECT_FALSE(Train(job, {"--servers=2", "--workers=2", "--set=training.epochs=20"}).empty());
}

TEST_F(RunTest, ProcessesDoNotOutliveAKilledRun) {
  const auto run = Start(folder_.File("small.textproto"), {"--servers=2", "--workers=2", kEndless});
  ASSERT_TRUE(run->WaitForErr("test accuracy ", kPatience));
  run->Signal(SIGKILL);
  EXPECT_EQ(run->Wait(kPatience).signal, SIGKILL);
  EXPECT_THAT(orphans_.Remaining(absl::Seconds(30)), IsEmpty());
}

}  // namespace
}  // namespace tributary
