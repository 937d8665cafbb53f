// What `tributary validate` prints; the numbers are counted by hand.
#include "cli/validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "common/job/job_file.h"
#include "tests/common/job/job_text.h"

namespace tributary {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Job Load(const std::string& path, const std::vector<std::string>& overrides = {}) {
  absl::StatusOr<LoadedJob> loaded = LoadJobFile(path, overrides);
  EXPECT_TRUE(loaded.ok()) << loaded.status();
  return loaded.ok() ? loaded->job : Job{};
}

TEST(DescribeJob, TellsTheExampleInFull) {
  const std::filesystem::path here = __FILE__;
  const Job job = Load(here.parent_path() / "../../../examples/mnist_cnn.textproto");
  // A convolution has 2 * fan_in + 1 operations per output: 51 * 5760 and 501 * 1280. A pooling of
  // 2x2 has 4 per output. 938 = ceil(60,000 / 64).
  EXPECT_EQ(DescribeJob(job, 60'000), R"(job mnist_cnn, seed 1

model mnist_cnn: images of 1x28x28, 10 classes
  layer  name   kind                   output    parameters    FLOPs
  0      conv1  conv2d 5x5             10x24x24         260  293,760
  1             max_pool2d 2x2         10x12x12           0    5,760
  2             relu                   10x12x12           0    1,440
  3      conv2  conv2d 5x5             20x8x8         5,020  641,280
  4             max_pool2d 2x2         20x4x4             0    1,280
  5             relu                   20x4x4             0      320
  6             flatten                320                0        0
  7      fc1    dense                  50            16,050   32,050
  8             relu                   50                 0       50
  9      fc2    dense                  10               510    1,010
  10            softmax_cross_entropy  10                 0       40

in all
  parameters                           21,840
  bytes (fp32)                         87,360
  forward FLOPs per image             976,990
  training FLOPs per image (about)  2,930,970

plan
  data              IDX in data/mnist
  pixels            mean 0.1307; deviation 0.3081
  optimizer         SGD, momentum 0.5
  learning rate     0.01, constant
  batch             64 images, 4 slots of 16 images
  epochs            10
  steps             938 in an epoch of 60,000 images, 9,380 in all
  workers to start  1
  evaluation        every epoch and at the end, 500 images at a time
)");
}

TEST(DescribeJob, LeavesTheStepsOutWhereTheDataAreNotKnown) {
  const TemporaryFolder folder;
  const Job job = Load(folder.Write("job.textproto", kGoodJob));
  EXPECT_THAT(DescribeJob(job), Not(HasSubstr("steps")));
}

// What an override changes, and the line that says it.
TEST(DescribeJob, NamesOptimizerScheduleAndDataWithTheirNumbers) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"optimizer.sgd.nesterov=true"}, "SGD, momentum 0.9, Nesterov\n"},
      {{"optimizer.sgd.dampening=0.5", "optimizer.sgd.weight_decay=0.001"},
       "SGD, momentum 0.9, dampening 0.5, weight decay 0.001\n"},
      {{"optimizer.adam.beta1=0.8"}, "Adam, beta1 0.8, beta2 0.999, epsilon 1e-08\n"},
      {{"optimizer.adam.keras_epsilon=true"},
       "Adam, beta1 0.9, beta2 0.999, epsilon 1e-08 (Keras)\n"},
      {{"optimizer.adamw.weight_decay=0.01", "optimizer.no_decay_on_bias=true"},
       "AdamW, beta1 0.9, beta2 0.999, epsilon 1e-08, weight decay 0.01, no decay on biases\n"},
      {{"optimizer.adagrad.learning_rate_decay=0.1"}, "AdaGrad, epsilon 1e-10, rate decay 0.1\n"},
      {{"learning_rate.step.every_epochs=2", "learning_rate.step.factor=0.5"},
       "0.1, times 0.5 every 2 epochs\n"},
      {{"learning_rate.cosine.minimum=0.01", "learning_rate.warmup_steps=1000"},
       "0.1, cosine to 0.01, warm-up over 1,000 steps\n"},
      {{"data.format=SYNTHETIC"}, "synthetic, 1,024 images and 256 to test\n"},
      {{"data.format=AUTO"}, "IDX or CIFAR-10 in /data\n"},
      {{"training.slots=5"}, "64 images, 5 slots of 12 or 13 images\n"},
      {{"training.max_steps=2000"}, "steps at most     2,000\n"},
      {{"evaluation.every_epochs=0"}, "at the end, 100 images at a time\n"},
      {{"model.layer[0].conv2d.stride=2", "model.layer[0].conv2d.bias=false"},
       "conv2d 3x3 stride 2x2 no bias "},
      {{"model.layer[1].max_pool2d.stride=1", "model.layer[1].max_pool2d.padding=1"},
       "max_pool2d 2x2 stride 1x1 padding 1x1 "},
      {{"model.layer[2].dropout.probability=0.5"}, "dropout 0.5 "},
      {{"model.layer[2].gelu={}"}, "gelu "},
  };
  const TemporaryFolder folder;
  const std::string path = folder.Write("job.textproto", kGoodJob);
  for (const auto& [overrides, line] : cases) {
    EXPECT_THAT(DescribeJob(Load(path, overrides)), HasSubstr(line));
  }
}

}  // namespace
}  // namespace tributary
