#include "server/coordinator/progress.h"

namespace tributary {
namespace {

BatchStatistics Sum(const auto& window) {
  BatchStatistics sum;
  for (const auto& entry : window) {
    if (!entry.statistics.not_finite) sum += entry.statistics;
  }
  return sum;
}

double Ratio(double numerator, double denominator) {
  return denominator > 0 ? numerator / denominator : 0;
}

}  // namespace

void ProgressMeter::Resume(double now_seconds) {
  mark_ = now_seconds;
  running_ = true;
}

void ProgressMeter::Pause(double now_seconds) {
  if (running_) elapsed_ += now_seconds - mark_;
  running_ = false;
}

void ProgressMeter::AddStep(const BatchStatistics& statistics, double now_seconds) {
  if (running_) elapsed_ += now_seconds - mark_;
  mark_ = now_seconds;
  images_ += statistics.samples;
  if (statistics.not_finite) ++skipped_;
  window_.push_back({statistics, elapsed_});
  if (window_.size() > kWindow) {
    window_start_ = window_.front().seconds;
    window_.pop_front();
  }
}

double ProgressMeter::loss() const {
  const BatchStatistics sum = Sum(window_);
  return Ratio(sum.loss_sum, static_cast<double>(sum.samples));
}

double ProgressMeter::accuracy() const {
  const BatchStatistics sum = Sum(window_);
  return Ratio(static_cast<double>(sum.correct), static_cast<double>(sum.samples));
}

double ProgressMeter::images_per_second() const {
  if (window_.empty()) return 0;
  int64_t images = 0;
  for (const Entry& entry : window_) images += entry.statistics.samples;
  return Ratio(static_cast<double>(images), window_.back().seconds - window_start_);
}

}  // namespace tributary
