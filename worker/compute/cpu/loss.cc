#include "worker/compute/cpu/loss.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace tributary {

void SoftmaxCrossEntropy(const float* logits, absl::Span<const int32_t> labels, int64_t classes,
                         BatchStatistics& statistics, float* gradient) {
  for (size_t n = 0; n < labels.size(); ++n) {
    const int32_t label = labels[n];
    assert(label >= 0 && label < classes);
    const float* x = logits + static_cast<int64_t>(n) * classes;
    const int64_t largest = std::max_element(x, x + classes) - x;
    const double shift = x[largest];
    const double at_label = x[label] - shift;
    double sum = 0;
    for (int64_t j = 0; j < classes; ++j) sum += std::exp(x[j] - shift);
    statistics.loss_sum += std::log(sum) - at_label;
    statistics.correct += largest == label ? 1 : 0;
    if (gradient == nullptr) continue;
    float* dx = gradient + static_cast<int64_t>(n) * classes;
    for (int64_t j = 0; j < classes; ++j) {
      dx[j] = static_cast<float>(std::exp(x[j] - shift) / sum - (j == label ? 1.0 : 0.0));
    }
  }
  statistics.samples += static_cast<int64_t>(labels.size());
}

}  // namespace tributary
