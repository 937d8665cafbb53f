// Broken job files, data files, model files and command lines, given to the real program: exit code
// 2, one line on standard error that has the place, what was found and what is allowed, nothing on
// standard output, nothing left running, nothing left in the folder for temporary files.
#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/formats/safetensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/process.h"
#include "tests/support/temp_dir.h"

namespace tributary {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Lines 3 to 11 of the job.
constexpr char kModelText[] = R"(model {
  input { channels: 1 height: 8 width: 8 }
  layer { name: "conv1" conv2d { out_channels: 4 kernel: 3 } }
  layer { max_pool2d { kernel: 2 } }
  layer { relu {} }
  layer { flatten {} }
  layer { name: "fc1" dense { out_features: 3 } }
  layer { softmax_cross_entropy {} }
}
)";
const std::string kGoodJob = std::string("name: \"small\"\nseed: 1\n") + kModelText +
                             R"(data { format: IDX dir: "@/data" classes: 3 }
optimizer { sgd { momentum: 0.5 } }
learning_rate { base: 0.1 }
training { epochs: 1 global_batch: 4 slots: 2 }
evaluation { every_epochs: 1 }
)";

std::string BigEndian(const std::vector<uint32_t>& numbers) {
  std::string bytes;
  for (const uint32_t number : numbers) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<char>(number >> shift));
  }
  return bytes;
}

// IDX (yann.lecun.com/exdb/mnist): magic 0x803, samples, rows, columns; magic 0x801, samples.
std::string Images(uint32_t samples, uint32_t height = 8, uint32_t width = 8) {
  return BigEndian({0x803, samples, height, width}) +
         std::string(size_t{samples} * height * width, '\x7f');
}
std::string Labels(const std::vector<char>& labels) {
  return BigEndian({0x801, static_cast<uint32_t>(labels.size())}) +
         std::string(labels.begin(), labels.end());
}

// One mistake in an otherwise good world. '@' stands for the test's folder in every text.
struct BadInput {
  const char* name;
  const char* command;              // after "tributary"
  std::vector<const char*> pieces;  // of the line on standard error
  // In the job file, this becomes that.
  const char* found = "";
  const char* replacement = "";
  // A file of data/ that is replaced, and by what; removed if nothing.
  const char* file = "";
  std::string content = {};
};

void PrintTo(const BadInput& input, std::ostream* out) {
  *out << input.name;
}

class BadInputTest : public ::testing::TestWithParam<BadInput> {
 protected:
  BadInputTest() {
    std::filesystem::create_directory(folder_.File("data"));
    std::filesystem::create_directory(folder_.File("tmp"));
    folder_.Write("job.textproto", InFolder(kGoodJob));
    folder_.Write("data/train-images-idx3-ubyte", Images(6));
    folder_.Write("data/train-labels-idx1-ubyte", Labels({0, 1, 2, 0, 1, 2}));
    folder_.Write("data/t10k-images-idx3-ubyte", Images(3));
    folder_.Write("data/t10k-labels-idx1-ubyte", Labels({0, 1, 2}));
    WriteModel("model.safetensors", {{"conv1.weight", {4, 1, 3, 3}},
                                     {"conv1.bias", {4}},
                                     {"fc1.weight", {3, 36}},
                                     {"fc1.bias", {3}}});
  }

  struct Named {
    std::string name;
    std::vector<int64_t> shape;
  };
  // A model file with these arrays, all zero.
  void WriteModel(const std::string& file, const std::vector<Named>& arrays,
                  const std::map<std::string, std::string>& metadata = {}) const {
    const std::vector<float> zeros(1000);
    std::vector<NamedArray> named;
    for (const Named& array : arrays) {
      size_t elements = 1;
      for (const int64_t size : array.shape) elements *= static_cast<size_t>(size);
      named.push_back({array.name, array.shape, absl::MakeSpan(zeros).first(elements)});
    }
    ASSERT_TRUE(WriteSafetensors(folder_.File(file), named, metadata).ok());
  }

  void WriteModels() const {
    WriteModel("no_bias.safetensors",
               {{"conv1.weight", {4, 1, 3, 3}}, {"conv1.bias", {4}}, {"fc1.weight", {3, 36}}});
    WriteModel("other_shape.safetensors", {{"conv1.weight", {4, 1, 3, 3}},
                                           {"conv1.bias", {4}},
                                           {"fc1.weight", {36, 3}},
                                           {"fc1.bias", {3}}});
    WriteModel("one_more.safetensors", {{"conv1.weight", {4, 1, 3, 3}},
                                        {"conv1.bias", {4}},
                                        {"fc1.weight", {3, 36}},
                                        {"fc1.bias", {3}},
                                        {"fc2.bias", {3}}});
    WriteModel("bad_job.safetensors", {{"x", {1}}}, {{"tributary.job", "seed: 1\nsead: 2"}});
    WriteModel("half_job.safetensors", {{"x", {1}}}, {{"tributary.job", "seed: 1"}});
    folder_.Write("text.safetensors", "this is not a model");
    folder_.Write("short.safetensors", std::string("\x02\0\0\0", 4));
    folder_.Write("huge_header.safetensors", std::string(8, '\x7f') + "{}");
  }

  std::string InFolder(const std::string& text) const {
    return absl::StrReplaceAll(text, {{"@", folder_.path()}});
  }

  // Puts the mistake into the world.
  void Break(const BadInput& input) const {
    if (*input.found != '\0') {
      const std::string job = absl::StrReplaceAll(kGoodJob, {{input.found, input.replacement}});
      ASSERT_NE(job, kGoodJob) << "nothing was broken";
      folder_.Write("job.textproto", InFolder(job));
    }
    if (*input.file != '\0') {
      const std::string path = std::string("data/") + input.file;
      std::filesystem::remove(folder_.File(path));
      if (!input.content.empty()) folder_.Write(path, input.content);
    }
  }

  ProcessOutcome RunCommand(const std::string& command) const {
    std::vector<std::string> arguments = {ProgramFolder() + "/tributary"};
    for (const auto argument : absl::StrSplit(command, ' ', absl::SkipEmpty())) {
      // "''" is an empty argument, as in a shell.
      arguments.push_back(argument == "''" ? "" : InFolder(std::string(argument)));
    }
    Process::Options options;
    options.environment = {"TMPDIR=" + folder_.File("tmp")};
    options.working_folder = folder_.path();
    return RunProcess(arguments, options);
  }

  OrphanCatcher orphans_;
  TempDir folder_;
};

TEST_P(BadInputTest, GivesOneClearLineAndNothingElse) {
  WriteModels();
  Break(GetParam());
  const ProcessOutcome outcome = RunCommand(GetParam().command);
  EXPECT_EQ(outcome.exit_code, 2) << "signal " << outcome.signal;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.empty() ? '\0' : outcome.err.back(), '\n');
  for (const char* piece : GetParam().pieces) {
    EXPECT_THAT(outcome.err, HasSubstr(InFolder(piece)));
  }
  EXPECT_THAT(orphans_.Remaining(), IsEmpty());
  EXPECT_TRUE(std::filesystem::is_empty(folder_.File("tmp")));
}

// What is broken above is good before.
using GoodInputTest = BadInputTest;
TEST_F(GoodInputTest, IsGood) {
  const ProcessOutcome validated = RunCommand("validate @/job.textproto");
  EXPECT_EQ(validated.exit_code, 0);
  EXPECT_EQ(validated.err, "");
  EXPECT_THAT(validated.out, HasSubstr("6 training images, 3 test images"));
  // All logits are zero: class 0 is taken for each, one of three is right.
  const ProcessOutcome evaluated = RunCommand("eval @/model.safetensors --job @/job.textproto");
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const std::vector<std::string> lines = absl::StrSplit(evaluated.out, '\n', absl::SkipEmpty());
  EXPECT_EQ(lines.empty() ? "" : lines.back(), "test accuracy: 0.3333");
}

constexpr char kRun[] = "run @/job.textproto --servers 2 --workers 2";
constexpr char kRunLocally[] = "run @/job.textproto --local";
constexpr char kValidate[] = "validate @/job.textproto";

const BadInput kJobs[] = {
    {"UnknownField",
     kRun,
     {"@/job.textproto:2: sead: found", "allowed name, seed"},
     "seed",
     "sead"},
    {"UnknownFieldInside",
     kValidate,
     {"@/job.textproto:15: training.epoch: found", "epochs"},
     "epochs: 1 g",
     "epoch: 1 g"},
    {"NotANumber",
     kRunLocally,
     {"@/job.textproto:15: training.epochs: found \"many\""},
     "epochs: 1 g",
     "epochs: many g"},
    {"UnbalancedBrace",
     kValidate,
     {"@/job.textproto:1"},
     "{ every_epochs: 1 }",
     "{ every_epochs: 1"},
    {"KernelLargerThanItsInput",
     kValidate,
     {"@/job.textproto:5: model.layer[0] (conv1)", "found", "9", "at most 8"},
     "kernel: 3",
     "kernel: 9"},
    {"PoolLargerThanItsInput",
     kRun,
     {"@/job.textproto:6: model.layer[1]", "at most 6"},
     "max_pool2d { kernel: 2 }",
     "max_pool2d { kernel: 7 }"},
    {"DenseOnAnImage",
     kValidate,
     {"@/job.textproto:", "model.layer[3] (fc1)", "flat"},
     "layer { flatten {} }",
     ""},
    {"NoLossAtTheEnd",
     kRun,
     {"@/job.textproto:", "softmax_cross_entropy"},
     "layer { softmax_cross_entropy {} }",
     ""},
    {"LayersOfOneName",
     kValidate,
     {"@/job.textproto:9: model.layer[4].name: found \"conv1\""},
     "\"fc1\"",
     "\"conv1\""},
    {"GroupsThatDoNotDivide",
     kValidate,
     {"@/job.textproto:5", "groups: found 3"},
     "kernel: 3",
     "kernel: 3 groups: 3"},
    {"WrongNumberOfClasses",
     kRun,
     {"@/job.textproto:12: data.classes: found 4", "allowed 3"},
     "classes: 3",
     "classes: 4"},
    {"TooManyMeans",
     kValidate,
     {"@/job.textproto:12: data.mean: found 3"},
     "classes: 3",
     "classes: 3 mean: [0, 0, 0]"},
    {"ZeroDeviation",
     kValidate,
     {"@/job.textproto:12: data.stddev", "found 0"},
     "classes: 3",
     "classes: 3 stddev: 0"},
    {"NegativeRate",
     kRun,
     {"@/job.textproto:14: learning_rate.base: found -0.1", "allowed"},
     "base: 0.1",
     "base: -0.1"},
    {"NoRate", kRunLocally, {"learning_rate.base: found 0", "allowed"}, "base: 0.1", ""},
    {"RateThatIsNoNumber",
     kValidate,
     {"@/job.textproto:14: learning_rate.base: found nan"},
     "base: 0.1",
     "base: nan"},
    {"MomentumOfOne",
     kValidate,
     {"@/job.textproto:13: optimizer.sgd.momentum: found 1"},
     "momentum: 0.5",
     "momentum: 1"},
    {"NoOptimizer", kRun, {"optimizer"}, "optimizer { sgd { momentum: 0.5 } }", ""},
    {"MoreSlotsThanSamples",
     kRun,
     {"@/job.textproto:15: training.slots: found 5", "allowed 1 to 4", "training.global_batch"},
     "slots: 2",
     "slots: 5"},
    {"NoBatch",
     kValidate,
     {"training.global_batch: found 0", "allowed"},
     "global_batch: 4 slots: 2",
     ""},
    {"NoEpochs", kRunLocally, {"training.epochs: found 0", "allowed"}, "epochs: 1 g", "g"},
    {"ModelFileThatIsMissing",
     kRun,
     {"@/job.textproto:3: model_file: ", "@/missing.textproto", "found no such file"},
     kModelText,
     "model_file: \"missing.textproto\"\n"},
    {"FewerWorkersThanTheJobWaitsFor",
     "run @/job.textproto --workers 1",
     {"--workers: found 1, allowed 2 or more (training.min_workers)"},
     "slots: 2",
     "slots: 2 min_workers: 2"},
};
INSTANTIATE_TEST_SUITE_P(Job, BadInputTest, ::testing::ValuesIn(kJobs),
                         [](const auto& tested) { return tested.param.name; });

constexpr char kTrainImages[] = "train-images-idx3-ubyte";
constexpr char kTrainLabels[] = "train-labels-idx1-ubyte";
constexpr char kTestImages[] = "t10k-images-idx3-ubyte";
constexpr char kTestLabels[] = "t10k-labels-idx1-ubyte";

const BadInput kData[] = {
    {"MissingFile",
     kRun,
     {"data.train_images: found no file", "@/data/train-images-idx3-ubyte"},
     "",
     "",
     kTrainImages,
     ""},
    {"MissingTestFile", kRunLocally, {"data.test_labels: found no file"}, "", "", kTestLabels, ""},
    {"MissingFolder", kRun, {"data", "@/nowhere"}, "@/data", "@/nowhere"},
    {"WrongMagic",
     kRun,
     {"@/data/train-images-idx3-ubyte", "magic number: found 0x00000801"},
     "",
     "",
     kTrainImages,
     Labels({0, 1, 2, 0, 1, 2})},
    {"NoData", kValidate, {"@/data/train-images-idx3-ubyte", "0"}, "", "", kTrainImages, "\1"},
    {"Truncated",
     kRun,
     {"@/data/train-images-idx3-ubyte", "found 384", "448", "truncated"},
     "",
     "",
     kTrainImages,
     Images(7).substr(0, 400)},
    {"TooLong",
     kValidate,
     {"@/data/train-images-idx3-ubyte", "found", "400"},
     "",
     "",
     kTrainImages,
     Images(6) + "x"},
    {"OtherSize",
     kRun,
     {"@/data/train-images-idx3-ubyte", "found 9", "expected 8"},
     "",
     "",
     kTrainImages,
     Images(6, 9, 8)},
    {"AbsurdCount",
     kRun,
     {"@/data/train-images-idx3-ubyte", "4294967295"},
     "",
     "",
     kTrainImages,
     BigEndian({0x803, 0xffffffff, 8, 8})},
    {"AbsurdSize",
     kValidate,
     {"@/data/train-images-idx3-ubyte", "4294967295"},
     "",
     "",
     kTrainImages,
     BigEndian({0x803, 6, 0xffffffff, 0xffffffff})},
    {"NoImages",
     kRun,
     {"@/data/train-images-idx3-ubyte", "found 0"},
     "",
     "",
     kTrainImages,
     Images(0)},
    {"FewerLabelsThanImages",
     kRun,
     {"@/data/train-labels-idx1-ubyte", "found 5", "expected 6"},
     "",
     "",
     kTrainLabels,
     Labels({0, 1, 2, 0, 1})},
    {"LabelBeyondTheClasses",
     kRun,
     {"@/data/train-labels-idx1-ubyte", "byte 10", "found 3"},
     "",
     "",
     kTrainLabels,
     Labels({0, 1, 3, 0, 1, 2})},
    {"TestImagesOfAnotherSize",
     kValidate,
     {"@/data/t10k-images-idx3-ubyte", "found 7"},
     "",
     "",
     kTestImages,
     Images(3, 8, 7)},
    {"BrokenGzip",
     kRunLocally,
     {"@/data/t10k-images-idx3-ubyte", "gzip"},
     "",
     "",
     kTestImages,
     "\x1f\x8b\x08 this is no gzip file"},
    {"ImagesInPlaceOfLabels",
     kValidate,
     {"@/data/t10k-labels-idx1-ubyte", "found 0x00000803"},
     "",
     "",
     kTestLabels,
     Images(3)},
    {"Cifar10ForAModelOfGreyImages",
     kRun,
     {"@/job.textproto:4: model.input: found 1x8x8, allowed 3x32x32"},
     "format: IDX",
     "format: CIFAR10"},
};
INSTANTIATE_TEST_SUITE_P(Data, BadInputTest, ::testing::ValuesIn(kData),
                         [](const auto& tested) { return tested.param.name; });

const BadInput kCommandLines[] = {
    {"NoCommand", "", {"command: found none, allowed run, validate, eval"}},
    {"UnknownCommand", "train @/job.textproto", {"command: found train, allowed run"}},
    {"NoBenchmark", "bench", {"command: found none, allowed train"}},
    {"NoJob", "run", {"JOB is required", "tributary run --help"}},
    {"JobThatIsMissing", "run @/missing", {"@/missing: job file: found no such file"}},
    {"JobThatIsAFolder", "run @", {"@: job file: found a directory"}},
    {"TwoJobs", "run @/job.textproto @/job.textproto", {"not expected: @/job.textproto"}},
    {"UnknownOption", "run @/job.textproto --server 2", {"not expected", "--server"}},
    {"ZeroServers",
     "run @/job.textproto --servers 0",
     {"--servers: found 0, allowed a whole number from 1 to 1024"}},
    {"NegativeWorkers",
     "run @/job.textproto --workers -1",
     {"--workers: found -1, allowed a whole number from 1 to 1024"}},
    {"AWordOfThreads",
     "run @/job.textproto --threads two",
     {"--threads: found two, allowed a whole number from 1 to 1024"}},
    {"TooManyWorkers",
     "run @/job.textproto --workers 99999999999999999999",
     {"--workers: found 9"}},
    {"ServersWithoutANumber", "run @/job.textproto --servers", {"--servers"}},
    {"ServersTwice", "run @/job.textproto --servers 1 --servers 2", {"--servers"}},
    {"SetWithoutAValue", "run @/job.textproto --set seed", {"--set", "seed"}},
    {"SetOfAnUnknownField",
     "run @/job.textproto --set training.epoch=3",
     {"--set", "training.epoch", "allowed", "epochs"}},
    {"SetToAWord",
     "validate @/job.textproto --set training.epochs=three",
     {"--set", "training.epochs", "found \"three\""}},
    {"SetToWhatIsNotAllowed",
     "run @/job.textproto --set training.slots=99",
     {"--set", "training.slots: found 99", "allowed 1 to 4"}},
    {"ModelOutWithoutFolder",
     "run @/job.textproto --model-out @/no/model.safetensors",
     {"--model-out: @/no/model.safetensors: found no folder @/no"}},
    {"ModelOutThatIsAFolder",
     "run @/job.textproto --local --model-out @",
     {"--model-out: @: found a folder"}},
    {"JsonThatIsADevice",
     "run @/job.textproto --json /dev/null",
     {"--json: /dev/null: found something that is not a regular file"}},
    {"JsonOfNoName", "run @/job.textproto --json ''", {"--json"}},
    {"OneFileForTwo",
     "run @/job.textproto --json @/out --model-out @/out",
     {"--json: found @/out, allowed another file than that of --model-out"}},
    {"BenchmarkOfAnUnknownModel",
     "bench train --model lenet",
     {"--model: found lenet, allowed mnist_cnn, mnist_tf_cnn or a model file"}},
    {"BenchmarkOfNoTime", "bench train --seconds 0", {"--seconds: found 0"}},
};
INSTANTIATE_TEST_SUITE_P(CommandLine, BadInputTest, ::testing::ValuesIn(kCommandLines),
                         [](const auto& tested) { return tested.param.name; });

const BadInput kModels[] = {
    {"MissingModel", "eval @/none.safetensors --job @/job.textproto", {"@/none.safetensors: "}},
    {"NoModelButText", "eval @/text.safetensors --job @/job.textproto", {"@/text.safetensors: "}},
    {"ShortFile", "eval @/short.safetensors --job @/job.textproto", {"@/short.safetensors", "4"}},
    {"HugeHeader",
     "eval @/huge_header.safetensors --job @/job.textproto",
     {"@/huge_header.safetensors", "found", "allowed"}},
    {"MissingArray",
     "eval @/no_bias.safetensors --job @/job.textproto",
     {"@/no_bias.safetensors: fc1.bias: found no such array, allowed shape [3]"}},
    {"OtherShape",
     "eval @/other_shape.safetensors --job @/job.textproto",
     {"@/other_shape.safetensors: fc1.weight: found shape [36,3], allowed shape [3,36]"}},
    {"OneArrayTooMany",
     "eval @/one_more.safetensors --job @/job.textproto",
     {"@/one_more.safetensors: fc2.bias: found an array of shape [3], allowed"}},
    {"NoJobInTheModel",
     "eval @/model.safetensors",
     {"@/model.safetensors: metadata: found no tributary.job, allowed", "--job"}},
    {"BrokenJobInTheModel",
     "eval @/bad_job.safetensors",
     {"@/bad_job.safetensors: metadata: tributary.job: line 2", "sead"}},
    {"IncompleteJobInTheModel",
     "eval @/half_job.safetensors",
     {"@/half_job.safetensors: metadata: tributary.job: model: found"}},
    {"LogitsWithoutFolder",
     "eval @/model.safetensors --job @/job.textproto --logits @/no/l.safetensors",
     {"--logits: @/no/l.safetensors: found no folder"}},
    {"TestSetThatIsMissing",
     "eval @/model.safetensors --job @/job.textproto",
     {"data.test_images: found no file"},
     "",
     "",
     kTestImages,
     ""},
};
INSTANTIATE_TEST_SUITE_P(Model, BadInputTest, ::testing::ValuesIn(kModels),
                         [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace tributary
