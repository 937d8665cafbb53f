// --set FIELD=VALUE.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "common/job/job_file.h"
#include "tests/common/job/job_text.h"

namespace tributary {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

class Overrides : public ::testing::Test {
 protected:
  absl::StatusOr<LoadedJob> Load(const std::vector<std::string>& overrides) {
    return LoadJobFile(folder_.Write("job.textproto", kGoodJob), overrides);
  }
  Job Good(const std::vector<std::string>& overrides) {
    absl::StatusOr<LoadedJob> loaded = Load(overrides);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return loaded.ok() ? loaded->job : Job{};
  }

  TemporaryFolder folder_;
};

TEST_F(Overrides, SetNumbersWordsTextsAndTruths) {
  const Job job =
      Good({"training.epochs=5", "seed=18446744073709551615", "data.dir=/other dir",
            "learning_rate.base=2.5e-3", "data.format=AUTO", "optimizer.no_decay_on_bias=true"});
  EXPECT_EQ(job.training.epochs, 5);
  EXPECT_EQ(job.seed, 18446744073709551615U);
  EXPECT_EQ(job.data.dir, "/other dir");
  EXPECT_EQ(job.learning_rate.base, 2.5e-3);
  EXPECT_EQ(job.data.format, DataConfig::Format::kAuto);
  EXPECT_TRUE(job.optimizer.no_decay_on_bias);
}

TEST_F(Overrides, LastOneCounts) {
  EXPECT_EQ(Good({"training.epochs=5", "training.epochs=6"}).training.epochs, 6);
}

TEST_F(Overrides, EverythingAfterTheFirstEqualsSignIsTheValue) {
  EXPECT_EQ(Good({"data.dir=a=b"}).data.dir, "a=b");
}

TEST_F(Overrides, ListReplacesARepeatedField) {
  const Job job = Good({"data.train_images=a,b", "data.train_labels=c,d", "data.mean="});
  EXPECT_THAT(job.data.train_images, ElementsAre("a", "b"));
  EXPECT_THAT(job.data.train_labels, ElementsAre("c", "d"));
  EXPECT_THAT(job.data.mean, ElementsAre(0.0));  // the default
  EXPECT_THAT(Good({"data.stddev=0.5"}).data.stddev, ElementsAre(0.5));
}

TEST_F(Overrides, AnotherMemberOfAOneofGivesWay) {
  const Job job = Good({"optimizer.adam.beta1=0.8"});
  const auto* adam = std::get_if<AdamConfig>(&job.optimizer.kind);
  ASSERT_NE(adam, nullptr);
  EXPECT_EQ(adam->beta1, 0.8);
  EXPECT_EQ(adam->beta2, 0.999);
}

TEST_F(Overrides, BracesAreAMessageWithNothingSet) {
  const Job job = Good({"learning_rate.cosine={}", "optimizer.sgd={}"});
  EXPECT_TRUE(std::holds_alternative<LearningRateConfig::Cosine>(job.learning_rate.schedule));
  EXPECT_EQ(std::get<SgdConfig>(job.optimizer.kind).momentum, 0);
}

TEST_F(Overrides, LayersAreCountedFromZero) {
  const Job job = Good({"model.layer[4].dense.out_features=7", "data.classes=7"});
  EXPECT_EQ(job.model.classes, 7);
}

TEST_F(Overrides, ModelOfAModelFileIsChangedToo) {
  folder_.Write("net.textproto",
                "input { channels: 1 height: 1 width: 1 }\n"
                "layer { name: \"fc1\" dense { out_features: 2 } }\n"
                "layer { softmax_cross_entropy {} }\n");
  std::string text = kGoodJob;
  const size_t begin = text.find("model {");
  text.replace(begin, text.find("data {") - begin, "model_file: \"none.textproto\"\n");
  const std::string path = folder_.Write("job.textproto", text);
  const auto loaded =
      LoadJobFile(path, {"model.layer[0].dense.out_features=10", "model_file=net.textproto"});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->job.model.classes, 10);
}

TEST_F(Overrides, ZeroIsNoDefault) {
  EXPECT_EQ(Load({"training.slots=0"}).status().message(),
            "--set: training.slots: found 0, allowed 1 to 64 (training.global_batch)");
}

struct Mistake {
  const char* name;
  const char* override_text;
  const char* message;
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

class BrokenOverride : public Overrides, public ::testing::WithParamInterface<Mistake> {};

TEST_P(BrokenOverride, GivesOneLineThatNamesTheField) {
  const absl::Status status = Load({GetParam().override_text}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              StartsWith(std::string("--set: ") + GetParam().message));
  EXPECT_EQ(status.message().find('\n'), absl::string_view::npos);
}

const Mistake kMistakes[] = {
    {"NoEqualsSign", "training.epochs", "override: found \"training.epochs\", allowed FIELD=VALUE"},
    {"NoField", "=3", "override: found \"=3\", allowed FIELD=VALUE"},
    {"UnknownField", "training.epoch=3",
     "training.epoch: found an unknown field, allowed epochs, max_steps, global_batch, slots, "},
    {"UnknownMessage", "trainning.epochs=3", "trainning.epochs: found an unknown field, allowed "},
    {"EmptyStep", "training..epochs=3", "training..epochs: found an unknown field, allowed epochs"},
    {"WordForANumber", "training.epochs=three",
     "training.epochs: found \"three\", allowed a whole number from 0 to 4294967295"},
    {"NothingForANumber",
     "training.epochs=", "training.epochs: found \"\", allowed a whole number"},
    {"NegativeNumber", "training.epochs=-1",
     "training.epochs: found \"-1\", allowed a whole number from 0 to 4294967295"},
    {"NumberTooLarge", "seed=18446744073709551616",
     "seed: found \"18446744073709551616\", allowed a whole number from 0 to 18446744073709551615"},
    {"WordForAFraction", "learning_rate.base=fast",
     "learning_rate.base: found \"fast\", allowed a number"},
    {"NoNumber", "learning_rate.base=nan",
     "learning_rate.base: found nan, allowed a finite number"},
    {"UnknownWord", "data.format=PNG",
     "data.format: found \"PNG\", allowed one of AUTO, IDX, CIFAR10, SYNTHETIC"},
    {"NoTruth", "optimizer.sgd.nesterov=perhaps",
     "optimizer.sgd.nesterov: found \"perhaps\", allowed true or false"},
    {"MessageAsAValue", "training=3",
     "training: found \"3\", allowed {}, or a field inside: epochs, max_steps, "},
    {"FieldInsideANumber", "training.epochs.x=3",
     "training.epochs.x: found a field inside, allowed a whole number"},
    {"ListForOneNumber", "training.epochs=1,2", "training.epochs: found \"1,2\", allowed a whole "},
    {"WordInAList", "data.mean=0.1,x", "data.mean: found \"x\", allowed a number"},
    {"ListOfAnotherLength", "data.mean=0.1,0.2", "data.mean: found 2 numbers, allowed 1 "},
    {"NoIndex", "model.layer.relu={}",
     "model.layer.relu: found no index, allowed layer[0], layer[1], ..."},
    {"IndexTooLarge", "model.layer[6].relu={}", "model.layer[6].relu: found 6, allowed 0 to 5"},
    {"IndexThatIsNoNumber", "model.layer[x].relu={}",
     "model.layer[x].relu: found \"layer[x]\", allowed an index as in layer[3]"},
    {"IndexWithoutEnd", "model.layer[3.relu={}",
     "model.layer[3.relu: found \"layer[3\", allowed an index as in layer[3]"},
    {"IndexOfAMessage", "training[0].epochs=3",
     "training[0].epochs: found an index, allowed training without one"},
    {"WholeLayer", "model.layer[2]={}",
     "model.layer[2]: found no field of the element, allowed one of name, conv2d, "},
    {"ValueThatDoesNotFit", "training.slots=65",
     "training.slots: found 65, allowed 1 to 64 (training.global_batch)"},
    {"LayerThatDoesNotFit", "model.layer[0].conv2d.kernel=9",
     "model.layer[0] (conv1): kernel: found a window of 9 along the height, allowed at most 8"},
    {"TextOfTwoLines", "data.dir=a\nb", "data.dir: found \"a\\nb\", allowed UTF-8 text"},
    {"FieldOfTwoLines", "a\nb=3", "a?b: found an unknown field"},
};

std::string Name(const ::testing::TestParamInfo<Mistake>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, BrokenOverride, ::testing::ValuesIn(kMistakes), Name);

}  // namespace
}  // namespace tributary
