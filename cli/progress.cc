#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cli/number_text.h"
#include "cli/progress_text.h"

namespace tributary {
namespace {

constexpr size_t kUsualWidth = 80;
constexpr size_t kNoWidth = 1000;
// To the start of the line, and erase to its end (ECMA-48, EL).
constexpr char kErase[] = "\r\x1b[K";

size_t TerminalWidth() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return size.ws_col;
}

}  // namespace

ProgressOutput StandardErrorOutput() {
  return {.is_terminal = ::isatty(STDERR_FILENO) == 1,
          .write =
              [](const std::string& text) {
                std::fwrite(text.data(), 1, text.size(), stderr);
                std::fflush(stderr);
              },
          .width = TerminalWidth,
          .now = absl::Now};
}

Progress::Progress(ProgressOutput output) : output_(std::move(output)) {}

Progress::~Progress() {
  absl::MutexLock lock(&mutex_);
  if (output_.is_terminal && !line_.empty()) output_.write(kErase);
}

void Progress::Show(const v1::JobStatus& status) {
  absl::MutexLock lock(&mutex_);
  last_ = status;
  SayNews(status);
  if (!output_.is_terminal) {
    ShowPlain(status);
    return;
  }
  // The last column stays free: a full line would wrap.
  const size_t width = output_.width();
  line_ = FormatProgress(status, width > 1 ? width - 1 : 1);
  output_.write(absl::StrCat(kErase, line_));
}

void Progress::Say(const std::string& line) {
  absl::MutexLock lock(&mutex_);
  SayLocked(line);
}

v1::JobStatus Progress::last() const {
  absl::MutexLock lock(&mutex_);
  return last_;
}

void Progress::SayLocked(const std::string& line) {
  if (output_.is_terminal && !line_.empty()) {
    output_.write(absl::StrCat(kErase, line, "\n", line_));
  } else {
    output_.write(absl::StrCat(line, "\n"));
  }
}

void Progress::SayNews(const v1::JobStatus& status) {
  std::string evaluation = FormatEvaluation(status);
  if (!evaluation.empty() && evaluation != evaluation_) {
    SayLocked(evaluation);
    evaluation_ = std::move(evaluation);
  }
  if (status.skipped_steps() > skipped_steps_) {
    skipped_steps_ = status.skipped_steps();
    SayLocked(absl::StrCat("step ", status.step(), ": ",
                           Counted(static_cast<int64_t>(skipped_steps_), "step"),
                           " so far not applied, because a gradient was not finite"));
  }
}

void Progress::ShowPlain(const v1::JobStatus& status) {
  // The end has lines of its own.
  if (status.phase() == v1::PHASE_FINISHED || status.phase() == v1::PHASE_CLOSED) return;
  std::string line = FormatProgress(status, kNoWidth);
  const absl::Time now = output_.now();
  if (line == line_ || now < line_time_ + kPlainLineInterval) return;
  SayLocked(line);
  line_ = std::move(line);
  line_time_ = now;
}

}  // namespace tributary
