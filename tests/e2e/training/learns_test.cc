// The examples reach the accuracy that their settings are known for, through servers and workers.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "tests/support/process.h"

namespace tributary {
namespace {

constexpr char kFashionFolder[] = "/usr/share/datasets/fashion-mnist";

// The last line of the output is "test accuracy: 0.9123".
double AccuracyOf(const ProcessOutcome& outcome) {
  const std::string marker = "test accuracy: ";
  const size_t place = outcome.out.rfind(marker);
  double accuracy = -1;
  if (place == std::string::npos) return accuracy;
  const std::string number = outcome.out.substr(place + marker.size());
  EXPECT_TRUE(absl::SimpleAtod(number, &accuracy)) << number;
  return accuracy;
}

double Train(const std::string& example, const std::vector<std::string>& more) {
  std::vector<std::string> command = {ProgramFolder() + "/tributary",
                                      "run",
                                      "examples/" + example + ".textproto",
                                      "--servers",
                                      "2",
                                      "--workers",
                                      "2"};
  command.insert(command.end(), more.begin(), more.end());
  const ProcessOutcome outcome = RunProcess(command, {}, absl::Minutes(25));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return AccuracyOf(outcome);
}

// PyTorch's own script with the same settings and data: 0.9897.
TEST(Learns, MnistAsPyTorchsExample) {
  if (!std::filesystem::exists(MNIST_FOLDER)) GTEST_SKIP() << "no MNIST files in " MNIST_FOLDER;
  EXPECT_GE(Train("mnist_cnn", {"--set", "data.dir=" MNIST_FOLDER}), 0.987);
}

// TensorFlow's tutorial says "over 99%" for MNIST after five epochs; one epoch is well above 0.97.
TEST(Learns, MnistAsTensorFlowsTutorialInOneEpoch) {
  if (!std::filesystem::exists(MNIST_FOLDER)) GTEST_SKIP() << "no MNIST files in " MNIST_FOLDER;
  EXPECT_GE(
      Train("mnist_tf_cnn", {"--set", "data.dir=" MNIST_FOLDER, "--set", "training.epochs=1"}),
      0.97);
}

// Fewer bits on the wire cost at most 0.3 points.
TEST(Learns, MnistInEveryWireType) {
  if (!std::filesystem::exists(MNIST_FOLDER)) GTEST_SKIP() << "no MNIST files in " MNIST_FOLDER;
  const auto train = [](const std::vector<std::string>& transfer) {
    std::vector<std::string> more = {"--set", "data.dir=" MNIST_FOLDER, "--set",
                                     "training.epochs=5"};
    for (const std::string& field : transfer) {
      more.insert(more.end(), {"--set", "transfer." + field});
    }
    return Train("mnist_cnn", more);
  };
  const double in_fp32 = train({});
  EXPECT_GE(in_fp32, 0.98);
  const std::vector<std::vector<std::string>> types = {
      {"push=BF16", "pull=BF16"},
      {"push=FP16", "pull=FP16"},
      {"push=INT8", "pull=INT8"},
      {"push=INT8", "error_feedback=true"},
      {"push=TOP_K", "error_feedback=true"},
      {"push=TOP_K", "pull=BF16", "error_feedback=true", "top_k_ratio=0.1"}};
  for (const std::vector<std::string>& type : types) {
    SCOPED_TRACE(absl::StrJoin(type, " "));
    EXPECT_GE(train(type), in_fp32 - 0.003);
  }
}

TEST(Learns, FashionMnist) {
  if (!std::filesystem::exists(kFashionFolder)) GTEST_SKIP() << "no files in " << kFashionFolder;
  EXPECT_GE(Train("fashion_mnist_cnn", {}), 0.90);
}

}  // namespace
}  // namespace tributary
