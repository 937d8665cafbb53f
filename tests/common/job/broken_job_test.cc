// Every mistake in a job file gives one line: file, line, field, what was found, what is allowed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/job/job_file.h"
#include "tests/common/job/job_text.h"

namespace tributary {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// In the good job, `found` becomes `replacement`; the error then starts with `line` and `message`.
struct Mistake {
  const char* name;
  const char* found;
  const char* replacement;
  int line;
  const char* message;
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

class BrokenJob : public ::testing::TestWithParam<Mistake> {};

TEST_P(BrokenJob, GivesOneLineWithPlaceFieldFoundAndAllowed) {
  const Mistake& mistake = GetParam();
  const TemporaryFolder folder;
  const std::string path =
      folder.Write("job.textproto", Changed(mistake.found, mistake.replacement));
  const absl::Status status = LoadJobFile(path, {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  const std::string message(status.message());
  EXPECT_THAT(message, StartsWith(absl::StrCat(path, ":", mistake.line, ": ", mistake.message)));
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

const Mistake kSyntax[] = {
    {"UnknownField", "epochs: 3", "epoch: 3", 23,
     "training.epoch: found an unknown field, allowed epochs, max_steps, global_batch, slots, "
     "min_workers, precision"},
    {"UnknownFieldAtTheTop", "seed: 7", "sead: 7", 2,
     "sead: found an unknown field, allowed name, seed, model, model_file, data, optimizer, "},
    {"UnknownFieldOfALayer", "dense { out_features", "dense { outputs", 10,
     "model.layer[4].dense.outputs: found an unknown field, allowed out_features, bias, "
     "initializer"},
    {"UnknownKindOfLayer", "layer { relu {} }", "layer { swish {} }", 8,
     "model.layer[2].swish: found an unknown field, allowed name, conv2d, max_pool2d, "},
    {"UnknownFieldBeforeALineBreak", "epochs: 3", "epoch\n  : 3", 23,
     "training.epoch: found an unknown field"},
    {"UnknownMessage", "evaluation {", "validation {", 27, "validation: found an unknown field"},
    {"WordForANumber", "epochs: 3", "epochs: three", 23,
     "training.epochs: found \"three\", allowed a whole number from 0 to 4294967295"},
    {"NegativeNumber", "epochs: 3", "epochs: -3", 23,
     "training.epochs: found \"-3\", allowed a whole number from 0 to 4294967295"},
    {"NumberTooLarge", "epochs: 3", "epochs: 4294967296", 23,
     "training.epochs: found \"4294967296\", allowed a whole number from 0 to 4294967295"},
    {"NegativeSeed", "seed: 7", "seed: -7", 2,
     "seed: found \"-7\", allowed a whole number from 0 to 18446744073709551615"},
    {"FractionForAWholeNumber", "slots: 4", "slots: 1.5", 25,
     "training.slots: found \"1.5\", allowed a whole number from 0 to 4294967295"},
    {"TextForANumber", "momentum: 0.9", "momentum: \"0.9\"", 20,
     "optimizer.sgd.momentum: found \"\\\"0.9\\\"\", allowed a number"},
    {"WordForAText", "dir: \"/data\"", "dir: data", 15,
     "data.dir: found \"data\", allowed a text in quotation marks"},
    {"UnknownFormat", "format: IDX", "format: PNG", 14,
     "data.format: found \"PNG\", allowed one of AUTO, IDX, CIFAR10, SYNTHETIC"},
    {"UnknownPrecision", "slots: 4", "slots: 4\n  precision: FP8\n", 26,
     "training.precision: found \"FP8\", allowed FP32"},
    {"WordForABool", "out_features: 10", "out_features: 10 bias: maybe", 10,
     "model.layer[4].dense.bias: found \"maybe\", allowed true or false"},
    {"NumberForAMessage", "sgd { momentum: 0.9 }", "sgd: 3", 20,
     "optimizer.sgd: found \"3\", allowed { ... } with momentum, dampening, nesterov, "},
    {"FieldTwice", "seed: 7", "seed: 7\nseed: 8", 3,
     "seed: found the field a second time, allowed once"},
    {"TwoOptimizers", "sgd { momentum: 0.9 }", "sgd { momentum: 0.9 } adam {}", 20,
     "optimizer.adam: found it beside sgd, allowed one of sgd, adam, adamw, adagrad"},
    {"TwoKindsInALayer", "relu {}", "relu {} tanh {}", 8,
     "model.layer[2].tanh: found it beside relu, allowed one of conv2d, max_pool2d, "},
    {"NoColon", "epochs: 3", "epochs 3", 23, "training: found \"3\" (Expected \":\", found \"3\")"},
    {"NoClosingBrace", "every_epochs: 1 batch: 100 }", "every_epochs: 1 batch: 100", 28,
     "evaluation: found the end of the text ("},
    {"OneBraceTooMany", "batch: 100 }", "batch: 100 }}", 27, "syntax: found \"}\" ("},
    {"TextWithoutEnd", "dir: \"/data\"", "dir: \"/data", 15, "data: found "},
    {"NoFieldName", "seed: 7", "= 7", 2, "syntax: found \"=\" ("},
    {"NoBytesButText", "seed: 7", "seed: 7 # \xff", 2,
     "text: found byte 0xff at position 23, allowed UTF-8 text"},
};

const Mistake kModel[] = {
    {"NoModel", R"(model {
  name: "net"
  input { channels: 1 height: 8 width: 8 }
  layer { name: "conv1" conv2d { out_channels: 4 kernel: 3 } }
  layer { max_pool2d { kernel: 2 } }
  layer { relu {} }
  layer { flatten {} }
  layer { name: "fc1" dense { out_features: 10 } }
  layer { softmax_cross_entropy {} }
})",
     "", 1, "model: found neither model nor model_file, allowed exactly one of the two"},
    {"ModelAndModelFile", "seed: 7", "seed: 7 model_file: \"net.textproto\"", 2,
     "model_file: found both model and model_file, allowed exactly one of the two"},
    {"NoInput", "input { channels: 1 height: 8 width: 8 }", "", 3,
     "model.input.channels: found 0, allowed 1 to 1048576"},
    {"NoHeight", "height: 8 ", "", 5, "model.input.height: found 0, allowed 1 to 1048576"},
    {"LayerWithoutKind", "relu {}", "", 8,
     "model.layer[2]: found no kind of layer, allowed one of conv2d, max_pool2d, "},
    {"LayerWithoutName", "name: \"conv1\" ", "", 6,
     "model.layer[0]: name: found none, a layer with parameters needs one"},
    {"NameOfTwoLayers", "\"fc1\"", "\"conv1\"", 10,
     "model.layer[4].name: found \"conv1\", allowed a name that no other layer has (layer[0] has "
     "it)"},
    {"NameWithASlash", "\"fc1\"", "\"fc/1\"", 10,
     "model.layer[4].name: found \"fc/1\", allowed letters, digits, '_', '-' and '.'"},
    {"NameOfTwoLines", "\"fc1\"", "\"fc\\n1\"", 10, "model.layer[4].name: found \"fc\\n1\""},
    {"ModelNameWithASpace", "\"net\"", "\"my net\"", 4,
     "model.name: found \"my net\", allowed letters, "},
    {"KernelLargerThanInput", "kernel: 3", "kernel: 9", 6,
     "model.layer[0] (conv1): kernel: found a window of 9 along the height, allowed at most 8"},
    {"NoKernel", "kernel: 3", "", 6,
     "model.layer[0].conv2d.kernel: found none, allowed one number or two"},
    {"ThreeNumbersForAKernel", "kernel: 3", "kernel: [3, 3, 3]", 6,
     "model.layer[0].conv2d.kernel: found 3 numbers, allowed one number (both axes) or two"},
    {"ZeroKernel", "kernel: 3", "kernel: [3, 0]", 6,
     "model.layer[0].conv2d.kernel: found 0, allowed 1 to 1048576"},
    {"ZeroStride", "kernel: 3", "kernel: 3\n    stride: 0", 7,
     "model.layer[0].conv2d.stride: found 0, allowed 1 to 1048576"},
    {"HugePadding", "kernel: 3", "kernel: 3 padding: 4000000000", 6,
     "model.layer[0].conv2d.padding: found 4000000000, allowed 0 to 524288"},
    {"ZeroGroups", "kernel: 3", "kernel: 3 groups: 0", 6,
     "model.layer[0].conv2d.groups: found 0, allowed 1 to 1048576"},
    {"GroupsThatDoNotDivide", "kernel: 3", "kernel: 3\n    groups: 3", 7,
     "model.layer[0] (conv1): groups: found 3, must divide"},
    {"NoOutChannels", "out_channels: 4 ", "", 6,
     "model.layer[0].conv2d.out_channels: found 0, allowed 1 to 1048576"},
    {"PaddingOfAPool", "max_pool2d { kernel: 2 }", "max_pool2d { kernel: 2 padding: 2 }", 7,
     "model.layer[1]: padding: found 2x2, allowed at most half the kernel (2x2)"},
    {"CountingPaddingInAMaximum", "max_pool2d { kernel: 2 }",
     "max_pool2d { kernel: 2 count_include_pad: false }", 7,
     "model.layer[1].max_pool2d.count_include_pad: found it in max_pool2d, allowed avg_pool2d"},
    {"DenseWithoutFlatten", "flatten {}", "relu {}", 10,
     "model.layer[4] (fc1): dense: found an input of [4, 3, 3], allowed a flat one"},
    {"NoOutFeatures", "out_features: 10", "", 10,
     "model.layer[4].dense.out_features: found 0, allowed 1 to 2147483648"},
    {"DropoutOfEverything", "relu {}", "dropout { probability: 1 }", 8,
     "model.layer[2]: probability: found 1, allowed 0 to below 1"},
    {"NoLossAtTheEnd", "softmax_cross_entropy {}", "relu {}", 11,
     "model.layer[5]: found another kind of layer, the last one must be softmax_cross_entropy"},
    {"LossInTheMiddle", "flatten {}", "softmax_cross_entropy {}", 9,
     "model.layer[3]: softmax_cross_entropy: allowed as the last layer alone"},
    {"LayersInAList", "layer { relu {} }", "layer: [\n    { relu {} },\n    { tanh {}\n gelu {} }]",
     11, "model.layer[3].gelu: found it beside tanh"},
    {"LayersInAListWithoutAColon", "layer { relu {} }", "layer [{ relu {} },\n{ tanh {} gelu {} }]",
     9, "model.layer[3].gelu: found it beside tanh"},
    {"ElementOfAListWithoutKind", "layer { relu {} }", "layer: [\n{ relu {} },\n{}]", 10,
     "model.layer[3]: found no kind of layer"},
    {"TooManyParameters", "out_features: 10",
     "out_features: 2000000 } }\n layer { name: \"fc2\" dense { out_features: 1000000", 11,
     "model.layer[5] (fc2): found a weight of 2000000000000 elements, allowed at most "},
};

const Mistake kData[] = {
    {"ClassesThatAreNotTheModels", "classes: 10", "classes: 12", 16,
     "data.classes: found 12, allowed 10 (the width of the model's last layer)"},
    {"NoClasses", "  classes: 10\n", "", 13, "data.classes: found 0, allowed 10"},
    {"MoreClassesThanAByteHas", "out_features: 10", "out_features: 257", 3,
     "model: found 257 classes, allowed 2 to 256"},
    {"TwoMeansForOneChannel", "mean: 0.5", "mean: [0.5, 0.4]", 17,
     "data.mean: found 2 numbers, allowed 1 (the model's channels)"},
    {"ZeroDeviation", "stddev: 0.25", "stddev: 0", 18,
     "data.stddev: found 0, allowed 1e-06 to 1e+06"},
    {"NegativeDeviation", "stddev: 0.25", "stddev: -0.25", 18,
     "data.stddev: found -0.25, allowed "},
    {"MeanThatIsNoNumber", "mean: 0.5", "mean: nan", 17,
     "data.mean[0]: found nan, allowed a finite number"},
    {"InfiniteDeviation", "stddev: 0.25", "stddev: inf", 18,
     "data.stddev[0]: found inf, allowed a finite number"},
    {"NoFolder", "  dir: \"/data\"\n", "", 13,
     "data.dir: found none, allowed the folder of the data files (or data.format SYNTHETIC)"},
    {"FolderOfTwoLines", "/data", "/da\\nta", 15,
     "data.dir: found \"/da\\nta\", allowed UTF-8 text without control characters"},
    {"FolderThatIsNotUtf8", "/data", "/da\\xffta", 15,
     "data.dir: found \"/da\\xffta\", allowed UTF-8"},
    {"MoreImageFilesThanLabelFiles", "classes: 10",
     "classes: 10\n  train_images: [\"a\", \"b\"]\n  train_labels: \"c\"", 18,
     "data.train_labels: found 1 names, allowed 2, one for each of data.train_images"},
    {"TwoTestFilesWithoutLabels", "classes: 10", "classes: 10 test_images: [\"a\", \"b\"]", 13,
     "data.test_labels: found 1 names, allowed 2"},
    {"EmptyFileName", "classes: 10", "classes: 10\n  train_images: \"\"", 17,
     "data.train_images: found \"\", allowed a file's name"},
    {"Cifar10OfAnotherShape", "format: IDX", "format: CIFAR10", 5,
     "model.input: found 1x8x8, allowed 3x32x32 (data.format CIFAR10)"},
    {"Cifar10WithLabels", "format: IDX", "format: CIFAR10\n  train_labels: \"a\"", 15,
     "data.train_labels: found 1 names, allowed none with format CIFAR10"},
    {"SyntheticSamplesOfRealData", "classes: 10", "classes: 10\n  synthetic_train_samples: 9", 17,
     "data.synthetic_train_samples: found 9, allowed with data.format SYNTHETIC alone"},
    {"NoSyntheticSamples", "format: IDX", "format: SYNTHETIC synthetic_test_samples: 0", 14,
     "data.synthetic_test_samples: found 0, allowed 1 to 2147483648"},
};

const Mistake kRules[] = {
    {"NoOptimizer", "optimizer { sgd { momentum: 0.9 } }", "", 1,
     "optimizer: found none, allowed one of sgd, adam, adamw, adagrad"},
    {"NoKindOfOptimizer", "sgd { momentum: 0.9 }", "no_decay_on_bias: true", 20,
     "optimizer: found none, allowed one of"},
    {"MomentumOfOne", "momentum: 0.9", "momentum: 1", 20,
     "optimizer.sgd.momentum: found 1, allowed 0 to below 1"},
    {"NegativeMomentum", "momentum: 0.9", "momentum: -0.1", 20,
     "optimizer.sgd.momentum: found -0.1, allowed 0 to below 1"},
    {"DampeningAboveOne", "momentum: 0.9", "momentum: 0.9\n  dampening: 1.5", 21,
     "optimizer.sgd.dampening: found 1.5, allowed 0 to 1"},
    {"NesterovWithoutMomentum", "momentum: 0.9", "nesterov: true", 20,
     "optimizer.sgd.nesterov: found true with momentum 0 and dampening 0, allowed "},
    {"NesterovWithDampening", "momentum: 0.9", "momentum: 0.9 dampening: 0.5\n  nesterov: true", 21,
     "optimizer.sgd.nesterov: found true with momentum 0.9 and dampening 0.5, allowed "},
    {"NegativeWeightDecay", "momentum: 0.9", "weight_decay: -1e-4", 20,
     "optimizer.sgd.weight_decay: found -0.0001, allowed 0 or more"},
    {"FirstBetaOfOne", "sgd { momentum: 0.9 }", "adam { beta1: 1 }", 20,
     "optimizer.adam.beta1: found 1, allowed 0 to below 1"},
    {"NegativeSecondBeta", "sgd { momentum: 0.9 }", "adamw {\n  beta2: -1 }", 21,
     "optimizer.adamw.beta2: found -1, allowed 0 to below 1"},
    {"ZeroEpsilon", "sgd { momentum: 0.9 }", "adam { epsilon: 0 }", 20,
     "optimizer.adam.epsilon: found 0, allowed a positive number, 1.2e-38 or more"},
    {"EpsilonThatFp32RoundsToZero", "sgd { momentum: 0.9 }", "adagrad { epsilon: 1e-50 }", 20,
     "optimizer.adagrad.epsilon: found 1e-50, allowed a positive number"},
    {"NegativeAccumulator", "sgd { momentum: 0.9 }", "adagrad { initial_accumulator: -1 }", 20,
     "optimizer.adagrad.initial_accumulator: found -1, allowed 0 or more"},
    {"NegativeRateDecay", "sgd { momentum: 0.9 }", "adagrad { learning_rate_decay: -1 }", 20,
     "optimizer.adagrad.learning_rate_decay: found -1, allowed 0 or more"},
    {"NoRate", "learning_rate { base: 0.1 }", "", 1,
     "learning_rate.base: found 0, allowed a positive number"},
    {"NegativeRate", "base: 0.1", "base: -0.1", 21,
     "learning_rate.base: found -0.1, allowed a positive number"},
    {"RateThatIsNoNumber", "base: 0.1", "base: nan", 21,
     "learning_rate.base: found nan, allowed a finite number"},
    {"RateBeyondFp32", "base: 0.1", "base: 1e39", 21,
     "learning_rate.base: found 1e+39, allowed a finite number"},
    {"RateBeyondFp64", "base: 0.1", "base: 1e999", 21,
     "learning_rate.base: found inf, allowed a finite number"},
    {"WarmupWithoutEnd", "base: 0.1", "base: 0.1 warmup_steps: 10000000000000000", 21,
     "learning_rate.warmup_steps: found 10000000000000000, allowed 0 to 9007199254740992"},
    {"FactorAboveOne", "base: 0.1", "base: 0.1 step { every_epochs: 1 factor: 1.1 }", 21,
     "learning_rate.step.factor: found 1.1, allowed above 0, up to 1"},
    {"NoFactor", "base: 0.1", "base: 0.1\n  step { every_epochs: 1 }", 22,
     "learning_rate.step.factor: found 0, allowed above 0, up to 1"},
    {"NoEpochsBetweenSteps", "base: 0.1", "base: 0.1 step { factor: 0.5 }", 21,
     "learning_rate.step.every_epochs: found 0, allowed 1 to 1000000"},
    {"MinimumAboveTheRate", "base: 0.1", "base: 0.1 cosine { minimum: 0.2 }", 21,
     "learning_rate.cosine.minimum: found 0.2, allowed 0 to 0.1 (learning_rate.base)"},
    {"TwoSchedules", "base: 0.1", "base: 0.1 constant {} cosine {}", 21,
     "learning_rate.cosine: found it beside constant, allowed one of constant, step, cosine"},
};

const Mistake kTraining[] = {
    {"NoTraining", "training {\n  epochs: 3\n  global_batch: 64\n  slots: 4\n}\n", "", 1,
     "training.epochs: found 0, allowed 1 to 1000000"},
    {"NoEpochs", "epochs: 3", "", 22, "training.epochs: found 0, allowed 1 to 1000000"},
    {"TooManyEpochs", "epochs: 3", "epochs: 1000001", 23,
     "training.epochs: found 1000001, allowed 1 to 1000000"},
    {"NoBatch", "global_batch: 64", "", 22, "training.global_batch: found 0, allowed 1 to 1048576"},
    {"BatchTooLarge", "global_batch: 64", "global_batch: 1048577", 24,
     "training.global_batch: found 1048577, allowed 1 to 1048576"},
    {"MoreSlotsThanBatch", "slots: 4", "slots: 65", 25,
     "training.slots: found 65, allowed 1 to 64 (training.global_batch)"},
    {"NoSlots", "slots: 4", "slots: 0", 25, "training.slots: found 0, allowed 1 to 64"},
    {"TooManySlots", "global_batch: 64\n  slots: 4", "global_batch: 1000000\n  slots: 65537", 25,
     "training.slots: found 65537, allowed 1 to 65536"},
    {"MoreWorkersThanSlots", "slots: 4", "slots: 4\n  min_workers: 5", 26,
     "training.min_workers: found 5, allowed 1 to 4 (training.slots)"},
    {"TooManySteps", "slots: 4", "slots: 4 max_steps: 9007199254740993", 25,
     "training.max_steps: found 9007199254740993, allowed 0 to 9007199254740992"},
    {"NoEvaluationBatch", "batch: 100 }", "batch: 0 }", 27,
     "evaluation.batch: found 0, allowed 1 to 1048576"},
    {"EvaluationTooRare", "every_epochs: 1", "every_epochs: 1000001", 27,
     "evaluation.every_epochs: found 1000001, allowed 0 to 1000000"},
    {"JobNameWithASlash", "\"good\"", "\"a/b\"", 1,
     "name: found \"a/b\", allowed 1 to 100 letters"},
    {"JobNameThatIsHidden", "\"good\"", "\"..\"", 1,
     "name: found \"..\", allowed 1 to 100 letters"},
};

const Mistake kTransfer[] = {
    {"UnknownWireType", "evaluation {", "transfer { push: FP8 }\nevaluation {", 27,
     "transfer.push: found \"FP8\", allowed one of FP32, BF16, FP16, INT8, TOP_K"},
    {"WireTypeWithoutAName", "evaluation {", "transfer { push: 9 }\nevaluation {", 27,
     "transfer.push: found "},
    {"ParametersAreNotSparse", "evaluation {", "transfer { pull: TOP_K }\nevaluation {", 27,
     "transfer.pull: found TOP_K, allowed FP32, BF16, FP16, INT8"},
    {"NothingIsLostInFp32", "evaluation {", "transfer { error_feedback: true }\nevaluation {", 27,
     "transfer.error_feedback: found true, allowed false: nothing is lost (transfer.push is FP32)"},
    {"NoneOfTheLargest", "evaluation {", "transfer { push: TOP_K top_k_ratio: 0 }\nevaluation {",
     27, "transfer.top_k_ratio: found 0, allowed above 0, at most 1"},
    {"MoreThanAllOfTheLargest", "evaluation {",
     "transfer { push: TOP_K top_k_ratio: 1.01 }\nevaluation {", 27,
     "transfer.top_k_ratio: found 1.01, allowed above 0, at most 1"},
};

std::string Name(const ::testing::TestParamInfo<Mistake>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Syntax, BrokenJob, ::testing::ValuesIn(kSyntax), Name);
INSTANTIATE_TEST_SUITE_P(Model, BrokenJob, ::testing::ValuesIn(kModel), Name);
INSTANTIATE_TEST_SUITE_P(Data, BrokenJob, ::testing::ValuesIn(kData), Name);
INSTANTIATE_TEST_SUITE_P(Rules, BrokenJob, ::testing::ValuesIn(kRules), Name);
INSTANTIATE_TEST_SUITE_P(Training, BrokenJob, ::testing::ValuesIn(kTraining), Name);
INSTANTIATE_TEST_SUITE_P(Transfer, BrokenJob, ::testing::ValuesIn(kTransfer), Name);

TEST(BrokenJobFile, TwoDeviationsForThreeChannelsAreRefused) {
  const TemporaryFolder folder;
  std::string text = Changed("channels: 1", "channels: 3");
  text.replace(text.find("stddev: 0.25"), 12, "stddev: [1, 2]");
  const std::string path = folder.Write("job.textproto", text);
  EXPECT_EQ(LoadJobFile(path, {}).status().message(),
            path + ":18: data.stddev: found 2 numbers, allowed 1 or 3 (the model's channels)");
}

TEST(BrokenJobFile, MissingFileIsNotFound) {
  const TemporaryFolder folder;
  const absl::Status status = LoadJobFile(folder.Path("none.textproto"), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(),
            folder.Path("none.textproto") + ": job file: found no such file, allowed a text file");
}

TEST(BrokenJobFile, FolderIsRefused) {
  const TemporaryFolder folder;
  const absl::Status status = LoadJobFile(folder.Path("."), {}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("job file: found a directory, allowed a text file"));
}

TEST(BrokenJobFile, EmptyFileIsRefused) {
  const TemporaryFolder folder;
  for (const char* text : {"", " \n\t\n"}) {
    const std::string path = folder.Write("job.textproto", text);
    EXPECT_THAT(std::string(LoadJobFile(path, {}).status().message()),
                StartsWith(path + ":1: text: found an empty file, allowed name, seed, model, "));
  }
}

TEST(BrokenJobFile, BinaryFileIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("job.textproto", std::string("\x7f"
                                                                     "ELF\n\0\0\0",
                                                                     8));
  EXPECT_EQ(LoadJobFile(path, {}).status().message(),
            path + ":2: text: found byte 0x00 at position 5, allowed UTF-8 text");
}

TEST(BrokenJobFile, FileLargerThanTheLimitIsRefused) {
  const TemporaryFolder folder;
  const std::string path =
      folder.Write("job.textproto", std::string(size_t{kMaxJobFileBytes} + 1, '\n'));
  EXPECT_EQ(LoadJobFile(path, {}).status().message(),
            path + ": job file: found more than 16777216 bytes, allowed at most that many");
}

TEST(BrokenJobFile, EndlessFileIsRefused) {
  EXPECT_THAT(std::string(LoadJobFile("/dev/zero", {}).status().message()),
              HasSubstr("found more than 16777216 bytes"));
}

TEST(BrokenJobFile, TextLongerThanAnyPathIsRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("job.textproto", Changed("/data", std::string(4097, 'd')));
  EXPECT_EQ(LoadJobFile(path, {}).status().message(),
            path + ":15: data.dir: found 4097 bytes, allowed at most 4096");
}

TEST(BrokenJobFile, MoreLayersThanTheLimitAreRefused) {
  std::string layers;
  for (int i = 0; i < 10'001; ++i) layers += "  layer { relu {} }\n";
  const TemporaryFolder folder;
  const std::string path = folder.Write("job.textproto", Changed("  layer { relu {} }\n", layers));
  EXPECT_EQ(LoadJobFile(path, {}).status().message(),
            path + ":6: model.layer: found 10006 layers, allowed 1 to 10000");
}

// A job whose model stands in models/net.textproto beside it.
class BrokenModelFile : public ::testing::Test {
 protected:
  std::string Load(const std::string& model_text) {
    folder_.Write("models/net.textproto", model_text);
    return Message("models/net.textproto");
  }
  std::string Message(const std::string& model_file) {
    std::string text = kGoodJob;
    const size_t begin = text.find("model {");
    text.replace(begin, text.find("data {") - begin, "model_file: \"" + model_file + "\"\n");
    status_ = LoadJobFile(folder_.Write("job.textproto", text), {}).status();
    return std::string(status_.message());
  }

  TemporaryFolder folder_;
  absl::Status status_;
};

TEST_F(BrokenModelFile, UnknownFieldHasTheModelFilesLine) {
  EXPECT_THAT(Load("input { channels: 1 height: 8 width: 8 }\n"
                   "layer {\n  dense { width: 3 } }\n"),
              StartsWith(folder_.Path("models/net.textproto") +
                         ":3: model.layer[0].dense.width: found an unknown field, allowed "
                         "out_features, bias, initializer"));
}

TEST_F(BrokenModelFile, ShapeThatDoesNotFitHasTheModelFilesLine) {
  EXPECT_THAT(Load("input { channels: 1 height: 8 width: 8 }\n"
                   "layer { name: \"conv1\"\n"
                   "  conv2d { out_channels: 2\n"
                   "    kernel: 9 } }\n"
                   "layer { softmax_cross_entropy {} }\n"),
              StartsWith(folder_.Path("models/net.textproto") +
                         ":4: model.layer[0] (conv1): kernel: found a window of 9"));
}

TEST_F(BrokenModelFile, ClassesThatDifferHaveTheJobFilesLine) {
  EXPECT_THAT(Load("input { channels: 1 height: 1 width: 1 }\n"
                   "layer { name: \"fc1\" dense { out_features: 2 } }\n"
                   "layer { softmax_cross_entropy {} }\n"),
              StartsWith(folder_.Path("job.textproto") + ":7: data.classes: found 10, allowed 2"));
}

TEST_F(BrokenModelFile, MissingFieldHasTheFirstLine) {
  EXPECT_THAT(Load("# nothing of use\nname: \"net\"\n"),
              StartsWith(folder_.Path("models/net.textproto") +
                         ":1: model.input.channels: found 0, allowed 1 to 1048576"));
}

TEST_F(BrokenModelFile, MissingFileIsNotFound) {
  EXPECT_EQ(Message("models/none.textproto"), folder_.Path("job.textproto") + ":3: model_file: " +
                                                  folder_.Path("models/none.textproto") +
                                                  ": found no such file, allowed a text file");
  EXPECT_EQ(status_.code(), absl::StatusCode::kNotFound);
}

TEST_F(BrokenModelFile, FolderIsRefused) {
  EXPECT_THAT(Message("."), StartsWith(folder_.Path("job.textproto") + ":3: model_file: "));
  EXPECT_THAT(Message("."), HasSubstr("found a directory, allowed a text file"));
}

TEST_F(BrokenModelFile, FileLargerThanTheLimitIsRefused) {
  EXPECT_THAT(Load(std::string(size_t{kMaxJobFileBytes} + 1, ' ')),
              HasSubstr("model_file: " + folder_.Path("models/net.textproto") +
                        ": found more than 16777216 bytes"));
}

TEST_F(BrokenModelFile, JobFileIsNoModelFile) {
  EXPECT_THAT(Load(kGoodJob),
              StartsWith(folder_.Path("models/net.textproto") +
                         ":2: model.seed: found an unknown field, allowed name, input, layer"));
}

}  // namespace
}  // namespace tributary
