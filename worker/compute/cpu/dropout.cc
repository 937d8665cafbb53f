// Dropout with probability p: an element is kept and divided by 1 - p, or becomes zero.
//
// The mask is a function of (seed, step, layer, position of the sample in the epoch's order,
// element), whoever computes the slot. Element e (PyTorch's order, [C, H, W]) of the sample at
// position s is kept when UnitFloat(number) >= p, where number is lane i % 4 of block i / 4, with
// i = s * elements + e, of the stream (seed, kDropout, layer mod 2^12 << 36 | step mod
// 2^36), layer being the index in the model.
#include <algorithm>
#include <array>
#include <vector>

#include "common/base/philox.h"
#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"

namespace tributary {
namespace {

uint64_t DropoutStream(int64_t layer_index, Step step) {
  constexpr int kStepBits = 36;
  return static_cast<uint64_t>(layer_index) << kStepBits |
         (static_cast<uint64_t>(step) & ((uint64_t{1} << kStepBits) - 1));
}

class Dropout final : public Operation {
 public:
  Dropout(const OperationContext& context, const DropoutLayer& dropout, int64_t layer_index,
          const LayerPlan& plan, const Edges& edges)
      : training_(context.training),
        batch_(context.batch),
        probability_(dropout.probability),
        layer_index_(layer_index),
        channels_(plan.input.channels),
        pixels_(plan.input.height * plan.input.width),
        edges_(edges),
        scale_(training_ ? batch_ * channels_ * pixels_ : 0) {}

  absl::Status Forward(const DropoutKey& key) override {
    const int64_t elements = batch_ * channels_ * pixels_;
    if (training_) {
      DrawMask(key);
      Multiply(edges_.input, scale_.data(), elements, edges_.output);
    } else if (edges_.output != edges_.input) {
      std::copy_n(edges_.input, elements, edges_.output);
    }
    return absl::OkStatus();
  }

  absl::Status Backward(float*) override {
    Multiply(edges_.output_gradient, scale_.data(), batch_ * channels_ * pixels_,
             edges_.input_gradient);
    return absl::OkStatus();
  }

 private:
  // scale_ is channels last, as the activations are.
  void DrawMask(const DropoutKey& key) {
    const RandomStream random(key.seed, RandomUse::kDropout, DropoutStream(layer_index_, key.step));
    const auto kept = static_cast<float>(1.0 / (1.0 - probability_));
    auto index =
        static_cast<uint64_t>(key.first_position) * static_cast<uint64_t>(channels_ * pixels_);
    std::array<uint32_t, 4> block = random.At(index / 4);
    float* sample = scale_.data();
    for (int64_t n = 0; n < batch_; ++n, sample += channels_ * pixels_) {
      for (int64_t c = 0; c < channels_; ++c) {
        for (int64_t p = 0; p < pixels_; ++p, ++index) {
          if (index % 4 == 0) block = random.At(index / 4);
          sample[p * channels_ + c] = UnitFloat(block[index % 4]) >= probability_ ? kept : 0.0f;
        }
      }
    }
  }

  const bool training_;
  const int64_t batch_;
  const double probability_;
  const int64_t layer_index_;
  const int64_t channels_;
  const int64_t pixels_;
  const Edges edges_;
  std::vector<float> scale_;  // 1 / (1 - p) or 0
};

}  // namespace

OperationOr MakeDropout(const OperationContext& context, const DropoutLayer& dropout,
                        int64_t layer_index, const LayerPlan& plan, const Edges& edges) {
  return std::make_unique<Dropout>(context, dropout, layer_index, plan, edges);
}

}  // namespace tributary
