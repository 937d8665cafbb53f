// [C, H, W] to [C * H * W] in PyTorch's order. The arrays here are channels last, so it is a
// transposition per image.
#include "worker/compute/cpu/loops.h"
#include "worker/compute/cpu/operations.h"

namespace tributary {
namespace {

class Flatten final : public Operation {
 public:
  Flatten(const OperationContext& context, const LayerPlan& plan, const Edges& edges)
      : batch_(context.batch),
        edges_(edges),
        channels_(plan.input.channels),
        pixels_(plan.input.height * plan.input.width) {}

  absl::Status Forward(const DropoutKey&) override {
    const int64_t elements = channels_ * pixels_;
    for (int64_t n = 0; n < batch_; ++n) {
      Transpose(edges_.input + n * elements, pixels_, channels_, edges_.output + n * elements);
    }
    return absl::OkStatus();
  }

  absl::Status Backward(float*) override {
    const int64_t elements = channels_ * pixels_;
    for (int64_t n = 0; n < batch_; ++n) {
      Transpose(edges_.output_gradient + n * elements, channels_, pixels_,
                edges_.input_gradient + n * elements);
    }
    return absl::OkStatus();
  }

 private:
  const int64_t batch_;
  const Edges edges_;
  const int64_t channels_;
  const int64_t pixels_;
};

}  // namespace

OperationOr MakeFlatten(const OperationContext& context, const LayerPlan& plan,
                        const Edges& edges) {
  return std::make_unique<Flatten>(context, plan, edges);
}

}  // namespace tributary
