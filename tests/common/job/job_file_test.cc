// Good jobs: what is in the file, what is filled in, what goes over the wire.
#include "common/job/job_file.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "tests/common/job/job_text.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The path of an example, from this file's.
std::string Example(const std::string& name) {
  const std::filesystem::path here = __FILE__;
  return here.parent_path() / "../../../examples" / name;
}

LoadedJob Load(const std::string& path) {
  absl::StatusOr<LoadedJob> loaded = LoadJobFile(path, {});
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? *std::move(loaded) : LoadedJob{};
}

LoadedJob LoadText(const std::string& text, const std::string& name = "job.textproto") {
  const TemporaryFolder folder;
  return Load(folder.Write(name, text));
}

TEST(Examples, HaveTheParametersOfTheirOriginals) {
  // By hand: 10*25+10 + 20*10*25+20 + 50*320+50 + 10*50+10, and
  // 32*9+32 + 64*32*9+64 + 64*64*9+64 + 64*576+64 + 10*64+10.
  EXPECT_EQ(Load(Example("fashion_mnist_cnn.textproto")).job.model.layout.parameters(), 21'840);
  EXPECT_EQ(Load(Example("mnist_cnn.textproto")).job.model.layout.parameters(), 21'840);
  EXPECT_EQ(Load(Example("mnist_tf_cnn.textproto")).job.model.layout.parameters(), 93'322);
}

TEST(Examples, SayWhatTheirOriginalsSay) {
  const Job torch = Load(Example("mnist_cnn.textproto")).job;
  EXPECT_EQ(torch.name, "mnist_cnn");
  EXPECT_EQ(torch.learning_rate.base, 0.01);
  EXPECT_EQ(std::get<SgdConfig>(torch.optimizer.kind).momentum, 0.5);
  EXPECT_EQ(torch.training.global_batch, 64);
  EXPECT_EQ(torch.training.epochs, 10);
  const Job keras = Load(Example("mnist_tf_cnn.textproto")).job;
  const auto& adam = std::get<AdamConfig>(keras.optimizer.kind);
  EXPECT_EQ(adam.epsilon, 1e-7);
  EXPECT_TRUE(adam.keras_epsilon);
  const auto& conv = std::get<Conv2dLayer>(keras.model.model.layers[0].kind);
  EXPECT_EQ(conv.initializer, Initializer::kGlorotUniform);
}

TEST(JobFile, HasWhatTheFileSays) {
  const Job job = LoadText(kGoodJob).job;
  EXPECT_EQ(job.name, "good");
  EXPECT_EQ(job.seed, 7U);
  EXPECT_EQ(job.model.model.name, "net");
  // 4*9+4 + 10*36+10.
  EXPECT_EQ(job.model.layout.parameters(), 410);
  EXPECT_EQ(job.data.format, DataConfig::Format::kIdx);
  EXPECT_EQ(job.data.dir, "/data");
  EXPECT_EQ(job.data.classes, 10);
  EXPECT_THAT(job.data.mean, ElementsAre(0.5));
  EXPECT_THAT(job.data.stddev, ElementsAre(0.25));
  EXPECT_EQ(std::get<SgdConfig>(job.optimizer.kind).momentum, 0.9);
  EXPECT_EQ(job.learning_rate.base, 0.1);
  EXPECT_EQ(job.training.epochs, 3);
  EXPECT_EQ(job.training.global_batch, 64);
  EXPECT_EQ(job.training.slots, 4);
  EXPECT_EQ(job.evaluation.every_epochs, 1);
  EXPECT_EQ(job.evaluation.batch, 100);
}

TEST(JobFile, FillsInTheDefaultsOfTheInterface) {
  const Job job = LoadText(R"(
    model {
      input { channels: 3 height: 5 width: 5 }
      layer { name: "conv" conv2d { out_channels: 2 kernel: [3, 2] } }
      layer { avg_pool2d { kernel: 2 } }
      layer { flatten {} }
      layer { name: "fc" dense { out_features: 2 } }
      layer { softmax_cross_entropy {} }
    }
    data { format: SYNTHETIC classes: 2 }
    optimizer { adamw {} }
    learning_rate { base: 1 }
    training { epochs: 1 global_batch: 8 }
  )",
                           "my job (1).textproto")
                      .job;
  EXPECT_EQ(job.name, "my_job__1_");  // the file's, as far as a name may be that
  EXPECT_EQ(job.seed, 0U);
  const auto& conv = std::get<Conv2dLayer>(job.model.model.layers[0].kind);
  EXPECT_EQ(conv.kernel, (Size2d{3, 2}));
  EXPECT_EQ(conv.stride, (Size2d{1, 1}));
  EXPECT_EQ(conv.padding, (Size2d{0, 0}));
  EXPECT_EQ(conv.dilation, (Size2d{1, 1}));
  EXPECT_EQ(conv.groups, 1);
  EXPECT_TRUE(conv.bias);
  EXPECT_EQ(conv.initializer, Initializer::kPytorchDefault);
  const auto& pool = std::get<Pool2dLayer>(job.model.model.layers[1].kind);
  EXPECT_EQ(pool.kind, Pool2dLayer::Kind::kAverage);
  EXPECT_EQ(pool.stride, (Size2d{2, 2}));
  EXPECT_TRUE(pool.count_include_pad);
  EXPECT_THAT(job.data.mean, ElementsAre(0, 0, 0));
  EXPECT_THAT(job.data.stddev, ElementsAre(1, 1, 1));
  EXPECT_THAT(job.data.train_images, IsEmpty());
  EXPECT_EQ(job.data.synthetic_train_samples, 1024);
  EXPECT_EQ(job.data.synthetic_test_samples, 256);
  const auto& adam = std::get<AdamConfig>(job.optimizer.kind);
  EXPECT_EQ(adam.beta1, 0.9);
  EXPECT_EQ(adam.beta2, 0.999);
  EXPECT_EQ(adam.epsilon, 1e-8);
  EXPECT_TRUE(adam.decoupled_weight_decay);
  EXPECT_FALSE(adam.keras_epsilon);
  EXPECT_TRUE(std::holds_alternative<LearningRateConfig::Constant>(job.learning_rate.schedule));
  EXPECT_EQ(job.training.slots, 1);
  EXPECT_EQ(job.training.min_workers, 1);
  EXPECT_EQ(job.training.max_steps, 0);
  EXPECT_EQ(job.evaluation.every_epochs, 0);
  EXPECT_EQ(job.evaluation.batch, 500);
  EXPECT_EQ(job.transfer.push, WireType::kFp32);
  EXPECT_EQ(job.transfer.pull, WireType::kFp32);
  EXPECT_FALSE(job.transfer.error_feedback);
  EXPECT_EQ(job.transfer.top_k_ratio, 0.01);
}

TEST(JobFile, EveryWireTypeIsRead) {
  const auto transfer = [](const std::string& text) {
    return LoadText(std::string(kGoodJob) + "transfer { " + text + " }", "job.textproto")
        .job.transfer;
  };
  EXPECT_EQ(transfer("push: BF16").push, WireType::kBf16);
  EXPECT_EQ(transfer("push: FP16").push, WireType::kFp16);
  EXPECT_EQ(transfer("push: INT8").push, WireType::kInt8);
  EXPECT_EQ(transfer("pull: BF16").pull, WireType::kBf16);
  EXPECT_EQ(transfer("pull: FP16").pull, WireType::kFp16);
  EXPECT_EQ(transfer("pull: INT8").pull, WireType::kInt8);
  const TransferConfig top_k = transfer("push: TOP_K error_feedback: true top_k_ratio: 0.25");
  EXPECT_EQ(top_k.push, WireType::kTopK);
  EXPECT_TRUE(top_k.error_feedback);
  EXPECT_EQ(top_k.top_k_ratio, 0.25);
}

TEST(JobFile, BetasOfZeroAndNoBiasAreNoDefaults) {
  const std::string text = Changed("sgd { momentum: 0.9 }", "adam { beta1: 0 beta2: 0 }");
  const auto adam = std::get<AdamConfig>(LoadText(text).job.optimizer.kind);
  EXPECT_EQ(adam.beta1, 0);
  EXPECT_EQ(adam.beta2, 0);
  const Job job = LoadText(Changed("out_features: 10", "out_features: 10 bias: false")).job;
  EXPECT_EQ(job.model.layout.parameters(), 400);
}

TEST(JobFile, EveryKindOfLayerIsRead) {
  const Job job = LoadText(R"(
    model {
      input { channels: 4 height: 9 width: 9 }
      layer { name: "a" conv2d { out_channels: 6 kernel: 3 stride: 2 padding: [1, 0] dilation: 2
                                 groups: 2 bias: false initializer: HE_UNIFORM } }
      layer { tanh {} }
      layer { sigmoid {} }
      layer { gelu {} }
      layer { relu {} }
      layer { max_pool2d { kernel: 2 stride: 1 padding: 1 } }
      layer { avg_pool2d { kernel: 2 count_include_pad: false } }
      layer { dropout { probability: 0.25 } }
      layer { flatten {} }
      layer { name: "b" dense { out_features: 3 bias: false initializer: ZEROS } }
      layer { softmax_cross_entropy {} }
    }
    data { format: SYNTHETIC classes: 3 mean: [1, 2, 3, 4] stddev: 2 }
    optimizer { adagrad {} }
    learning_rate { base: 1 step { every_epochs: 2 factor: 0.5 } warmup_steps: 9 }
    training { epochs: 1 global_batch: 8 precision: FP32 }
  )")
                      .job;
  const auto& layers = job.model.model.layers;
  const auto& conv = std::get<Conv2dLayer>(layers[0].kind);
  EXPECT_EQ(conv.stride, (Size2d{2, 2}));
  EXPECT_EQ(conv.padding, (Size2d{1, 0}));
  EXPECT_EQ(conv.dilation, (Size2d{2, 2}));
  EXPECT_EQ(conv.groups, 2);
  EXPECT_FALSE(conv.bias);
  EXPECT_EQ(conv.initializer, Initializer::kHeUniform);
  EXPECT_EQ(std::get<ActivationLayer>(layers[1].kind).kind, ActivationLayer::Kind::kTanh);
  EXPECT_EQ(std::get<ActivationLayer>(layers[2].kind).kind, ActivationLayer::Kind::kSigmoid);
  EXPECT_EQ(std::get<ActivationLayer>(layers[3].kind).kind, ActivationLayer::Kind::kGelu);
  EXPECT_EQ(std::get<ActivationLayer>(layers[4].kind).kind, ActivationLayer::Kind::kRelu);
  EXPECT_EQ(std::get<Pool2dLayer>(layers[5].kind).padding, (Size2d{1, 1}));
  EXPECT_FALSE(std::get<Pool2dLayer>(layers[6].kind).count_include_pad);
  EXPECT_EQ(std::get<DropoutLayer>(layers[7].kind).probability, 0.25);
  EXPECT_TRUE(std::holds_alternative<FlattenLayer>(layers[8].kind));
  const auto& dense = std::get<DenseLayer>(layers[9].kind);
  EXPECT_FALSE(dense.bias);
  EXPECT_EQ(dense.initializer, Initializer::kZeros);
  EXPECT_THAT(job.data.mean, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(job.data.stddev, ElementsAre(2, 2, 2, 2));
  EXPECT_EQ(std::get<AdaGradConfig>(job.optimizer.kind).epsilon, 1e-10);
  const auto& step = std::get<LearningRateConfig::StepDecay>(job.learning_rate.schedule);
  EXPECT_EQ(step.every_epochs, 2);
  EXPECT_EQ(step.factor, 0.5);
  EXPECT_EQ(job.learning_rate.warmup_steps, 9);
}

TEST(JobFile, Cifar10NeedsNoLabelFiles) {
  const TemporaryFolder folder;
  std::string text = Changed("format: IDX", "format: CIFAR10 train_images: [\"a\", \"b\"]");
  text.replace(text.find("channels: 1 height: 8 width: 8"), 30, "channels: 3 height: 32 width: 32");
  EXPECT_EQ(LoadText(text).job.data.format, DataConfig::Format::kCifar10);
}

TEST(WireSpec, IsTheFilesWithTheModelWrittenIn) {
  const LoadedJob loaded = Load(Example("mnist_cnn.textproto"));
  EXPECT_EQ(loaded.spec.model_file(), "");
  EXPECT_EQ(loaded.spec.model().layer_size(), 11);
  const absl::StatusOr<Job> job = JobFromSpec(loaded.spec);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->model.layout.fingerprint(), loaded.job.model.layout.fingerprint());
  EXPECT_EQ(job->name, loaded.job.name);
}

TEST(WireSpec, HasTheFilesNameWhereTheJobHasNone) {
  const LoadedJob loaded = LoadText(Changed("name: \"good\"\n", ""), "other.textproto");
  EXPECT_EQ(loaded.spec.name(), "other");
  EXPECT_EQ(loaded.job.name, "other");
}

TEST(WireSpec, WithoutANameIsCalledJob) {
  v1::JobSpec spec = LoadText(kGoodJob).spec;
  spec.clear_name();
  const absl::StatusOr<Job> job = JobFromSpec(spec);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->name, "job");
}

TEST(WireSpec, ErrorsNameTheFieldAlone) {
  v1::JobSpec spec = LoadText(kGoodJob).spec;
  spec.mutable_training()->set_slots(65);
  EXPECT_EQ(JobFromSpec(spec).status().message(),
            "training.slots: found 65, allowed 1 to 64 (training.global_batch)");
  spec = LoadText(kGoodJob).spec;
  spec.mutable_model()->mutable_layer(0)->mutable_conv2d()->set_kernel(0, 9);
  EXPECT_EQ(JobFromSpec(spec).status().message(),
            "model.layer[0] (conv1): kernel: found a window of 9 along the height, allowed at most "
            "8 (the padded input)");
}

TEST(WireSpec, NamesNoFiles) {
  v1::JobSpec spec = LoadText(kGoodJob).spec;
  spec.set_model_file("/etc/passwd");
  EXPECT_EQ(
      JobFromSpec(spec).status().message(),
      "model_file: found \"/etc/passwd\", allowed none: over the wire the model is written in");
}

TEST(WireSpec, UnknownWordsAreRefused) {
  const auto message = [](const auto& change) {
    v1::JobSpec spec = LoadText(kGoodJob).spec;
    change(spec);
    return std::string(JobFromSpec(spec).status().message());
  };
  EXPECT_EQ(message([](v1::JobSpec& spec) {
              spec.mutable_data()->set_format(static_cast<v1::DataSpec::Format>(9));
            }),
            "data.format: found 9, allowed one of AUTO, IDX, CIFAR10, SYNTHETIC");
  EXPECT_EQ(message([](v1::JobSpec& spec) {
              spec.mutable_training()->set_precision(static_cast<v1::TrainingSpec::Precision>(1));
            }),
            "training.precision: found 1, allowed FP32");
  EXPECT_EQ(message([](v1::JobSpec& spec) {
              spec.mutable_model()->mutable_layer(4)->mutable_dense()->set_initializer(
                  static_cast<v1::Initializer>(-1));
            }),
            "model.layer[4].dense.initializer: found -1, allowed PYTORCH_DEFAULT, GLOROT_UNIFORM, "
            "HE_UNIFORM, ZEROS");
}

TEST(WireSpec, EmptyOneIsRefused) {
  EXPECT_EQ(JobFromSpec(v1::JobSpec()).status().message(),
            "model: found neither model nor model_file, allowed exactly one of the two");
}

// Each layer alone may be counted, the model may not.
TEST(WireSpec, OperationsBeyondCountingAreRefused) {
  v1::JobSpec spec;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
    model {
      input { channels: 16 height: 16384 width: 8192 }
      layer { name: "a" conv2d { out_channels: 16 kernel: 8191 padding: 4095 } }
      layer { name: "b" conv2d { out_channels: 16 kernel: 8191 padding: 4095 } }
      layer { flatten {} }
      layer { name: "c" dense { out_features: 2 } }
      layer { softmax_cross_entropy {} }
    }
    data { format: SYNTHETIC classes: 2 }
  )",
                                                            &spec));
  // 2 * 16 * 8191^2 + 1 for each of 2^31 outputs: below 2^62, above 2^61.
  EXPECT_EQ(JobFromSpec(spec).status().message(),
            "model.layer: found more operations per image than can be counted, allowed at most "
            "2305843009213693952");
}

}  // namespace
}  // namespace tributary
