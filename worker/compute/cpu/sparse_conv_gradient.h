// The gradients of a convolution whose output goes into max pooling: all of it is zero but for one
// element in each window, so a product is computed for each pooled element that has a gradient,
// not for each element of the output. With 2x2 windows and relu that is an eighth of the work of
// the dense gradients.
//
// A pooled element e of channel o came from output pixel p, whose patch of the input is
// kernel_height rows of kernel_width * C contiguous elements:
//
//   dweight[o, row, :] += dy[e] * x[patch(p), row, :]
//   dx[patch(p), row, :] += dy[e] * weight[o, row, :]
//
// For convolutions without groups and without dilation along the width, and windows side by side.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_SPARSE_CONV_GRADIENT_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_SPARSE_CONV_GRADIENT_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "common/model/model_plan.h"
#include "worker/compute/cpu/aligned_buffer.h"
#include "worker/compute/cpu/kernels.h"

namespace tributary {

class SparseConvGradient {
 public:
  // `pooled`: the shape after pooling. Convolution weights as PyTorch has them.
  SparseConvGradient(const Conv2dLayer& conv, const LayerPlan& plan, const Shape& pooled);

  // Before anything else. Errors: RESOURCE_EXHAUSTED.
  absl::Status Initialize();

  // For Compute with an input gradient.
  void UseWeight(const float* weight);

  struct Arrays {
    const float* input;            // [N, H, W, C], readable for kRowVector elements beyond the end
    const float* pooled_gradient;  // [N, pooled H, pooled W, O]
    const int32_t* origin;         // the same; the pixel of the padded input where the patch starts
    float* weight_gradient;        // [O, C, kernel H, kernel W]
    float* input_gradient;         // null, or as input; writable beyond the end as well
  };
  void Compute(int64_t batch, const Arrays& arrays);

 private:
  void CollectTerms(const float* pooled_gradient, const int32_t* origin);
  void ChainTermsByPixel();
  void AddWeightGradient(const float* image);
  void AddInputGradient(float* image);
  const float* Padded(const float* image);
  void CutPadding(const float* padded, float* image) const;
  void UnpackWeightGradient(float* weight_gradient) const;

  const Kernels& kernels_ = BestKernels();
  const Conv2dLayer conv_;
  const Shape input_;
  const int64_t channels_;  // of the output
  const int64_t pooled_pixels_;
  const bool is_padded_;
  const int64_t row_elements_;  // of a patch
  const int64_t row_vectors_;
  const int64_t image_row_;        // elements of a row of the padded input
  const int64_t weight_elements_;  // of packed_
  std::vector<int32_t> patches_;   // for each output pixel: the input pixel where its patch starts
  AlignedBuffer packed_;  // weight as [O, kernel H, row_vectors_ * kRowVector], zero-padded
  AlignedBuffer sums_;    // weight gradient, likewise
  std::vector<float> padded_input_;
  std::vector<float> padded_gradient_;

  // Of one image: the elements that have a gradient, by channel: [O, pooled pixels], of which
  // channel_counts_ are used. One more at the end: the last channel writes before it looks.
  std::vector<Weighted> channel_terms_;  // offset: the patch
  std::vector<int64_t> channel_counts_;
  // The same by the pixel where the patch starts: chains of indices, -1 at the end. As the windows
  // lie side by side, a pixel has at most one element of each channel.
  std::vector<int32_t> last_at_pixel_;
  std::vector<int32_t> previous_;
  std::vector<int32_t> weight_row_;    // where the channel of an index starts in packed_
  std::vector<Weighted> pixel_terms_;  // of one pixel; offset: weight_row_
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_SPARSE_CONV_GRADIENT_H_
