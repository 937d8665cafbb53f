// The inner loops that are compiled once per instruction set (kernels.inc) and chosen once, at
// start. Every operation is elementwise and nothing is fused, so all of them give the same bits.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_KERNELS_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_KERNELS_H_

#include <cstdint>

#include "common/model/model.h"

namespace tributary {

struct PoolGeometry {
  Shape input;
  Shape output;
  Size2d kernel;
  Size2d stride;
  Size2d padding;
};

// Channels that max pooling handles together. It reads and writes whole blocks, up to
// kPoolBlock - 1 elements beyond the end of its arrays.
inline constexpr int64_t kPoolBlock = 16;

// A number times the rows that start at `offset` of some array.
struct Weighted {
  float weight = 0;
  int32_t offset = 0;
};

// A few rows of whole vectors: row r starts at r * source_stride in the source and at
// r * target_stride in the target.
inline constexpr int64_t kRowVector = 8;
struct Rows {
  int64_t count = 0;
  int64_t vectors = 0;  // of kRowVector elements, in each row
  int64_t source_stride = 0;
  int64_t target_stride = 0;
};

// Images that PooledConv handles side by side: array[..., kLanes].
inline constexpr int64_t kLanes = 16;

// columns[c, ky, kx, w, :] = lanes[y, x, c, :], where `:` stands for kLanes elements, w counts the
// windows [first_window, first_window + windows) of a row-major array of `windows_per_row` in a
// row, and
//   y = window row * window_step.height + origin.height + ky * dilation.height
//   x = window column * window_step.width + origin.width + kx * dilation.width
// Zero where (y, x) lies outside the image.
struct LanePatches {
  Shape image;
  Size2d kernel;
  Size2d dilation;
  Size2d window_step;
  Size2d origin;
  int64_t windows_per_row = 0;
  int64_t first_window = 0;
  int64_t windows = 0;
};

struct Kernels {
  // output[n, oy, ox, c] = the largest of its window, and origin[the same] = the pixel
  // (y * width + x) it came from. As in PyTorch: the first of equal values, and a NaN wins over
  // every number. All arrays are [N, H, W, C].
  void (*max_pool)(const PoolGeometry& pool, int64_t batch, const float* input, float* output,
                   int32_t* origin);

  // target[r, i] += sum over e of terms[e].weight * source[terms[e].offset + (r, i)], the terms in
  // their order.
  void (*add_weighted_rows)(const Weighted* terms, int64_t count, const float* source,
                            const Rows& rows, float* target);

  // lanes[e, i] = images[i, e] for `count` <= kLanes images of `elements` each; 0 for other i.
  void (*interleave)(const float* images, int64_t count, int64_t elements, float* lanes);

  // The way back, for `rows` arrays: images[i * image_step + r] = lanes[r * row_step + i]
  // (+ shift for whole numbers) for `count` <= kLanes images.
  void (*deinterleave)(const float* lanes, int64_t row_step, int64_t rows, int64_t count,
                       int64_t image_step, float* images);
  void (*deinterleave_shifted)(const int32_t* lanes, int64_t row_step, int64_t rows, int64_t count,
                               int64_t image_step, int32_t shift, int32_t* images);

  // See LanePatches.
  void (*fill_columns)(const LanePatches& patches, const float* lanes, float* columns);

  // Where values[i] is larger than best[i], or NaN: best[i] = values[i], best_at[i] = at.
  // `elements` is a multiple of kLanes, here and below.
  void (*take_larger)(const float* values, int64_t elements, int32_t at, float* best,
                      int32_t* best_at);

  // values[i] += bias; with `relu`, then max(values[i], 0).
  void (*add_bias)(float bias, bool relu, int64_t elements, float* values);
};

// The widest that this processor has.
const Kernels& BestKernels();

// One for each kernels_*.cc; the processor must have the instructions.
extern const Kernels kBaselineKernels;
#if defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_KERNELS_H_
