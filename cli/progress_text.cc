#include "cli/progress_text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/number_text.h"

namespace tributary {
namespace {

constexpr uint64_t kBarWidth = 11;
// A rate above is no rate; also keeps the conversion to a whole number defined.
constexpr double kMaxRate = 1e15;

std::string Bar(const v1::JobStatus& status) {
  const uint64_t total = std::max<uint64_t>(status.total_steps(), 1);
  const double share = static_cast<double>(status.step()) / static_cast<double>(total);
  const auto filled = static_cast<size_t>(std::min(1.0, share) * kBarWidth);
  return absl::StrCat("[", std::string(filled, '#'), std::string(kBarWidth - filled, '-'), "]");
}

// The epoch that is being trained, from 1.
uint64_t EpochNumber(const v1::JobStatus& status) {
  const uint64_t epochs = std::max<uint32_t>(status.epochs(), 1);
  return std::min<uint64_t>(uint64_t{status.epoch()} + 1, epochs);
}

double SecondsLeft(const v1::JobStatus& status) {
  if (status.step() >= status.total_steps()) return 0;
  const double steps_left = static_cast<double>(status.total_steps() - status.step());
  const double images_per_step =
      static_cast<double>(status.images()) / static_cast<double>(status.step());
  return steps_left * images_per_step / status.images_per_second();
}

// A text from a peer, as one line of a terminal.
std::string Printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c >= 0 && (c < ' ' || c == 127); }, '?');
  return text;
}

std::string Training(const v1::JobStatus& status) {
  std::string line = absl::StrCat("epoch ", EpochNumber(status), "/", status.epochs(), " ",
                                  Bar(status), " step ", status.step(), "/", status.total_steps());
  if (status.step() == 0) {
    return status.message().empty() ? line : absl::StrCat(line, " waiting for ", status.message());
  }
  absl::StrAppendFormat(&line, " loss %.4f accuracy %.4f", status.loss(), status.accuracy());
  const double rate = status.images_per_second();
  const bool has_rate = rate > 0 && rate < kMaxRate;
  if (has_rate) absl::StrAppend(&line, " ", GroupDigits(std::llround(rate)), " images/s");
  if (!status.message().empty()) {
    absl::StrAppend(&line, " waiting for ", status.message());
  } else if (status.phase() == v1::PHASE_EVALUATING) {
    absl::StrAppend(&line, " evaluating");
  } else if (has_rate) {
    absl::StrAppend(&line, " ", FormatDuration(SecondsLeft(status)), " left");
  }
  return line;
}

std::string Line(const v1::JobStatus& status) {
  switch (status.phase()) {
    case v1::PHASE_TRAINING:
    case v1::PHASE_EVALUATING:
      return Training(status);
    case v1::PHASE_FINISHED:
    case v1::PHASE_CLOSED:
      return "training is done, ending";
    case v1::PHASE_FAILED:
      return absl::StrCat("failed: ", status.message());
    default:
      return status.message().empty() ? "starting" : absl::StrCat("waiting for ", status.message());
  }
}

}  // namespace

std::string FormatProgress(const v1::JobStatus& status, size_t width) {
  return Printable(Line(status)).substr(0, width);
}

std::string FormatEvaluation(const v1::JobStatus& status) {
  if (status.test_count() == 0) return "";
  const uint64_t steps = status.steps_per_epoch();
  const bool is_epoch = steps > 0 && status.test_version() % steps == 0;
  const std::string place = is_epoch ? absl::StrCat("epoch ", status.test_version() / steps)
                                     : absl::StrCat("step ", status.test_version());
  const double accuracy =
      static_cast<double>(status.test_correct()) / static_cast<double>(status.test_count());
  return absl::StrFormat("%s: test accuracy %.4f, test loss %.4f", place, accuracy,
                         status.test_loss());
}

}  // namespace tributary
