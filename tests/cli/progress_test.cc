#include "cli/progress.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace tributary {
namespace {

// A screen that keeps what is written, and a clock that moves by hand.
struct Screen {
  std::string text;
  size_t width = 200;
  absl::Time now = absl::UnixEpoch();

  ProgressOutput Output(bool is_terminal) {
    return {.is_terminal = is_terminal,
            .write = [this](const std::string& written) { text += written; },
            .width = [this] { return width; },
            .now = [this] { return now; }};
  }
};

v1::JobStatus AtStep(uint64_t step) {
  v1::JobStatus status;
  status.set_phase(v1::PHASE_TRAINING);
  status.set_step(step);
  status.set_total_steps(100);
  status.set_epochs(1);
  status.set_steps_per_epoch(100);
  return status;
}

v1::JobStatus Evaluated(uint64_t step, uint64_t version) {
  v1::JobStatus status = AtStep(step);
  status.set_test_version(version);
  status.set_test_count(100);
  status.set_test_correct(50);
  status.set_test_loss(0.5);
  return status;
}

std::string LineOf(uint64_t step) {
  return "epoch 1/1 [" + std::string(step * 11 / 100, '#') +
         std::string(11 - step * 11 / 100, '-') + "] step " + std::to_string(step) +
         "/100 loss 0.0000 accuracy 0.0000";
}

TEST(Progress, RedrawsOneLineOnATerminal) {
  Screen screen;
  {
    Progress progress(screen.Output(/*is_terminal=*/true));
    progress.Show(AtStep(10));
    progress.Show(AtStep(20));
    EXPECT_EQ(screen.text, "\r\x1b[K" + LineOf(10) + "\r\x1b[K" + LineOf(20));
    screen.text.clear();
  }
  EXPECT_EQ(screen.text, "\r\x1b[K") << "the line goes away at the end";
}

TEST(Progress, LeavesTheLastColumnFree) {
  Screen screen;
  screen.width = 10;
  Progress progress(screen.Output(/*is_terminal=*/true));
  progress.Show(AtStep(10));
  EXPECT_EQ(screen.text, "\r\x1b[Kepoch 1/1");
}

TEST(Progress, AnEvaluationStaysAboveTheRedrawnLine) {
  Screen screen;
  Progress progress(screen.Output(/*is_terminal=*/true));
  progress.Show(AtStep(100));
  screen.text.clear();
  progress.Show(Evaluated(100, 100));
  progress.Show(Evaluated(100, 100));
  EXPECT_EQ(screen.text, "\r\x1b[Kepoch 1: test accuracy 0.5000, test loss 0.5000\n" + LineOf(100) +
                             "\r\x1b[K" + LineOf(100) + "\r\x1b[K" + LineOf(100));
}

TEST(Progress, PlainLinesAreFiveSecondsApart) {
  Screen screen;
  Progress progress(screen.Output(/*is_terminal=*/false));
  for (uint64_t step = 1; step <= 40; ++step) {
    progress.Show(AtStep(step));
    screen.now += absl::Milliseconds(250);
  }
  // Steps 1 to 40 in ten seconds: at 0 and at 5 seconds.
  EXPECT_EQ(screen.text, LineOf(1) + "\n" + LineOf(21) + "\n");
}

TEST(Progress, PlainLinesAreNotRepeated) {
  Screen screen;
  Progress progress(screen.Output(/*is_terminal=*/false));
  v1::JobStatus status;
  status.set_phase(v1::PHASE_WAITING);
  status.set_message("shard 1");
  for (int i = 0; i < 100; ++i) {
    progress.Show(status);
    screen.now += absl::Seconds(1);
  }
  EXPECT_EQ(screen.text, "waiting for shard 1\n");
}

TEST(Progress, EveryEvaluationIsAPlainLineAtOnce) {
  Screen screen;
  Progress progress(screen.Output(/*is_terminal=*/false));
  progress.Show(AtStep(40));
  progress.Show(Evaluated(50, 50));
  progress.Show(Evaluated(60, 50));
  progress.Show(Evaluated(100, 100));
  EXPECT_EQ(screen.text, LineOf(40) +
                             "\n"
                             "step 50: test accuracy 0.5000, test loss 0.5000\n"
                             "epoch 1: test accuracy 0.5000, test loss 0.5000\n");
}

TEST(Progress, TellsOfSkippedStepsOnce) {
  Screen screen;
  Progress progress(screen.Output(/*is_terminal=*/false));
  progress.Show(AtStep(40));
  screen.text.clear();
  v1::JobStatus status = AtStep(41);
  status.set_skipped_steps(1);
  progress.Show(status);
  progress.Show(status);
  EXPECT_EQ(screen.text, "step 41: 1 step so far not applied, because a gradient was not finite\n");
}

TEST(Progress, KeepsTheNewestStatus) {
  Screen screen;
  Progress progress(screen.Output(/*is_terminal=*/false));
  EXPECT_EQ(progress.last().step(), 0);
  progress.Show(AtStep(3));
  EXPECT_EQ(progress.last().step(), 3);
}

}  // namespace
}  // namespace tributary
