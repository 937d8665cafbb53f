// The forward pass of a convolution followed by max pooling with windows side by side, by one
// matrix product for each place in the window:
//
//   weight x patches at place (0, 0) of all windows = [O, windows x images]
//   weight x patches at place (0, 1)                = [O, windows x images]
//   ...                                        the largest of these, and its place
//
// A column of `patches` is what the convolution sees at that place of one window, for one image;
// kLanes images stand side by side, so that every copy and every maximum is over whole vectors. The
// columns for a tile of windows fit into the cache; the convolution's output is never written out,
// and outputs that no window covers are never computed.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_POOLED_CONV_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_POOLED_CONV_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "worker/compute/cpu/aligned_buffer.h"
#include "worker/compute/cpu/kernels.h"
#include "worker/compute/cpu/operations.h"

namespace tributary {

class PooledConv {
 public:
  // Convolutions without groups; pooling without padding whose stride is its kernel.
  static absl::StatusOr<PooledConv> Create(const ConvMaxPoolLayers& layers);

  struct Arrays {
    const float* input;   // [N, H, W, C]
    const float* weight;  // [O, C, kernel H, kernel W]
    const float* bias;    // [O], or null
    float* output;        // [N, pooled H, pooled W, O]
    int32_t* origin;      // the same: where the patch starts that gave the largest
  };
  // Of values that are equal before the bias is added the first is the largest; a NaN is larger
  // than every number.
  absl::Status Run(int64_t batch, const Arrays& arrays);

 private:
  explicit PooledConv(const ConvMaxPoolLayers& layers);

  // The pixel of the padded input where the patch of an output of the convolution starts.
  int64_t FirstPixel(int64_t y, int64_t x) const {
    return y * conv_.stride.height * (input_.width + 2 * conv_.padding.width) +
           x * conv_.stride.width;
  }
  absl::Status RunTile(const float* weight, int64_t first_window, int64_t windows);
  void WriteOut(const Arrays& arrays, int64_t first_image, int64_t images, int64_t first_window,
                int64_t windows);

  const Kernels& kernels_ = BestKernels();
  Conv2dLayer conv_;
  Size2d window_;
  bool relu_;
  Shape input_;
  Shape pooled_;
  int64_t patch_elements_;
  int64_t tile_;                  // windows
  AlignedBuffer lanes_;           // [H, W, C, kLanes]: the input of kLanes images
  AlignedBuffer columns_;         // [C, kernel H, kernel W, windows, kLanes]
  AlignedBuffer product_;         // [O, windows, kLanes]
  AlignedBuffer best_;            // the same
  std::vector<int32_t> best_at_;  // the same: FirstPixel, from that of the window's first place
};

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_POOLED_CONV_H_
