#include "cli/progress_text.h"

#include <cmath>
#include <limits>

#include "cli/number_text.h"
#include "gtest/gtest.h"

namespace tributary {
namespace {

constexpr size_t kWide = 200;

// 12 epochs of 938 steps of 64 images, in the third epoch.
v1::JobStatus ThirdEpoch() {
  v1::JobStatus status;
  status.set_phase(v1::PHASE_TRAINING);
  status.set_step(2345);
  status.set_total_steps(11256);
  status.set_epoch(2);
  status.set_epochs(12);
  status.set_steps_per_epoch(938);
  status.set_loss(0.38124);
  status.set_accuracy(0.87311);
  status.set_images_per_second(41203.4);
  status.set_images(150'080);  // 2345 * 64
  return status;
}

TEST(NumberText, GroupsDigitsByThrees) {
  EXPECT_EQ(GroupDigits(0), "0");
  EXPECT_EQ(GroupDigits(999), "999");
  EXPECT_EQ(GroupDigits(21840), "21,840");
  EXPECT_EQ(GroupDigits(1234567890), "1,234,567,890");
  EXPECT_EQ(GroupDigits(-123), "-123");
  EXPECT_EQ(GroupDigits(-1234), "-1,234");
}

TEST(NumberText, CountsOneAndMany) {
  EXPECT_EQ(Counted(1, "server"), "1 server");
  EXPECT_EQ(Counted(0, "server"), "0 servers");
  EXPECT_EQ(Counted(60000, "image"), "60,000 images");
}

TEST(NumberText, ShowsDurationsAsClocksDo) {
  EXPECT_EQ(FormatDuration(0), "0:00");
  EXPECT_EQ(FormatDuration(11.6), "0:12");
  EXPECT_EQ(FormatDuration(59.6), "1:00");
  EXPECT_EQ(FormatDuration(754), "12:34");
  EXPECT_EQ(FormatDuration(3723), "1:02:03");
  EXPECT_EQ(FormatDuration(-1), "-:--");
  EXPECT_EQ(FormatDuration(std::numeric_limits<double>::infinity()), "-:--");
  EXPECT_EQ(FormatDuration(std::nan("")), "-:--");
}

TEST(ProgressText, ShowsEverythingWhileTraining) {
  // (11256 - 2345) * 64 / 41203.4 = 13.84 seconds; 2345 / 11256 of 11 columns are 2.
  EXPECT_EQ(FormatProgress(ThirdEpoch(), kWide),
            "epoch 3/12 [##---------] step 2345/11256 loss 0.3812 accuracy 0.8731 41,203 images/s "
            "0:14 left");
}

TEST(ProgressText, BarIsFullAtTheEndAndNotBefore) {
  v1::JobStatus status = ThirdEpoch();
  status.set_step(11255);
  EXPECT_NE(FormatProgress(status, kWide).find("[##########-]"), std::string::npos);
  status.set_step(11256);
  EXPECT_NE(FormatProgress(status, kWide).find("[###########]"), std::string::npos);
  EXPECT_NE(FormatProgress(status, kWide).find("0:00 left"), std::string::npos);
}

TEST(ProgressText, LastEpochIsNotExceeded) {
  v1::JobStatus status = ThirdEpoch();
  status.set_epoch(12);
  EXPECT_EQ(FormatProgress(status, kWide).substr(0, 12), "epoch 12/12 ");
}

TEST(ProgressText, IsCutToTheWidth) {
  EXPECT_EQ(FormatProgress(ThirdEpoch(), 20), "epoch 3/12 [##------");
  EXPECT_EQ(FormatProgress(ThirdEpoch(), 0), "");
}

TEST(ProgressText, BeforeTheFirstStepThereIsNoLoss) {
  v1::JobStatus status = ThirdEpoch();
  status.set_step(0);
  status.set_epoch(0);
  status.set_images(0);
  EXPECT_EQ(FormatProgress(status, kWide), "epoch 1/12 [-----------] step 0/11256");
}

TEST(ProgressText, SaysWhatIsWaitedFor) {
  v1::JobStatus status;
  status.set_phase(v1::PHASE_WAITING);
  status.set_message("shard 1, workers (1 of 2)");
  EXPECT_EQ(FormatProgress(status, kWide), "waiting for shard 1, workers (1 of 2)");

  status = ThirdEpoch();
  status.set_message("a worker");
  EXPECT_EQ(FormatProgress(status, kWide),
            "epoch 3/12 [##---------] step 2345/11256 loss 0.3812 accuracy 0.8731 41,203 images/s "
            "waiting for a worker");
}

TEST(ProgressText, SaysThatItEvaluates) {
  v1::JobStatus status = ThirdEpoch();
  status.set_phase(v1::PHASE_EVALUATING);
  EXPECT_EQ(FormatProgress(status, kWide),
            "epoch 3/12 [##---------] step 2345/11256 loss 0.3812 accuracy 0.8731 41,203 images/s "
            "evaluating");
}

TEST(ProgressText, NonsenseFromAPeerIsOneLineAllTheSame) {
  v1::JobStatus status;
  status.set_phase(v1::PHASE_TRAINING);
  status.set_step(std::numeric_limits<uint64_t>::max());
  status.set_epoch(std::numeric_limits<uint32_t>::max());
  status.set_loss(std::nan(""));
  status.set_images_per_second(std::numeric_limits<double>::infinity());
  EXPECT_EQ(FormatProgress(status, kWide),
            "epoch 1/0 [###########] step 18446744073709551615/0 loss nan accuracy 0.0000");

  status.set_phase(v1::PHASE_FAILED);
  status.set_message("two\nlines\x1b[2J");
  EXPECT_EQ(FormatProgress(status, kWide), "failed: two?lines?[2J");
}

TEST(ProgressText, NamesTheEpochOfAnEvaluation) {
  v1::JobStatus status = ThirdEpoch();
  EXPECT_EQ(FormatEvaluation(status), "");
  status.set_test_count(10000);
  status.set_test_correct(8812);
  status.set_test_loss(0.33118);
  status.set_test_version(2814);  // 3 * 938
  EXPECT_EQ(FormatEvaluation(status), "epoch 3: test accuracy 0.8812, test loss 0.3312");
  status.set_test_version(200);
  EXPECT_EQ(FormatEvaluation(status), "step 200: test accuracy 0.8812, test loss 0.3312");
  status.set_steps_per_epoch(0);
  EXPECT_EQ(FormatEvaluation(status), "step 200: test accuracy 0.8812, test loss 0.3312");
}

}  // namespace
}  // namespace tributary
