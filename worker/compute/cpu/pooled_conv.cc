#include "worker/compute/cpu/pooled_conv.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace tributary {
namespace {

// The columns of a tile: a quarter of a core's second-level cache of 1 MiB, which also holds the
// images, the products and oneDNN's own copies.
constexpr int64_t kTileBytes = 256 << 10;

int64_t TileWindows(int64_t windows, int64_t patch_elements) {
  const int64_t column_bytes = patch_elements * kLanes * static_cast<int64_t>(sizeof(float));
  const int64_t most = std::max<int64_t>(1, kTileBytes / column_bytes);
  const int64_t tiles = (windows + most - 1) / most;
  return (windows + tiles - 1) / tiles;  // all about equal
}

}  // namespace

PooledConv::PooledConv(const ConvMaxPoolLayers& layers)
    : conv_(layers.conv),
      window_(layers.pool.kernel),
      relu_(layers.relu),
      input_(layers.conv_plan.input),
      pooled_(layers.pool_plan.output),
      patch_elements_(layers.conv_plan.fan_in),
      tile_(TileWindows(pooled_.height * pooled_.width, patch_elements_)),
      best_at_(pooled_.channels * tile_ * kLanes) {}

absl::StatusOr<PooledConv> PooledConv::Create(const ConvMaxPoolLayers& layers) {
  PooledConv conv(layers);
  const int64_t products = conv.pooled_.channels * conv.tile_ * kLanes;
  ASSIGN_OR_RETURN(conv.lanes_, AlignedBuffer::Create(conv.input_.elements() * kLanes));
  ASSIGN_OR_RETURN(conv.columns_,
                   AlignedBuffer::Create(conv.patch_elements_ * conv.tile_ * kLanes));
  ASSIGN_OR_RETURN(conv.product_, AlignedBuffer::Create(products));
  ASSIGN_OR_RETURN(conv.best_, AlignedBuffer::Create(products));
  return conv;
}

absl::Status PooledConv::Run(int64_t batch, const Arrays& arrays) {
  const int64_t windows = pooled_.height * pooled_.width;
  for (int64_t image = 0; image < batch; image += kLanes) {
    const int64_t images = std::min(kLanes, batch - image);
    kernels_.interleave(arrays.input + image * input_.elements(), images, input_.elements(),
                        lanes_.data());
    for (int64_t window = 0; window < windows; window += tile_) {
      const int64_t count = std::min(tile_, windows - window);
      RETURN_IF_ERROR(RunTile(arrays.weight, window, count));
      WriteOut(arrays, image, images, window, count);
    }
  }
  return absl::OkStatus();
}

absl::Status PooledConv::RunTile(const float* weight, int64_t first_window, int64_t windows) {
  const int64_t columns = windows * kLanes;
  const int64_t products = pooled_.channels * columns;
  LanePatches patches{
      .image = input_,
      .kernel = conv_.kernel,
      .dilation = conv_.dilation,
      .window_step = {window_.height * conv_.stride.height, window_.width * conv_.stride.width},
      .origin = {},
      .windows_per_row = pooled_.width,
      .first_window = first_window,
      .windows = windows};
  for (int64_t y = 0; y < window_.height; ++y) {
    for (int64_t x = 0; x < window_.width; ++x) {
      patches.origin = {y * conv_.stride.height - conv_.padding.height,
                        x * conv_.stride.width - conv_.padding.width};
      kernels_.fill_columns(patches, lanes_.data(), columns_.data());
      const bool first = y == 0 && x == 0;
      float* const product = first ? best_.data() : product_.data();
      RETURN_IF_ERROR(
          FromDnnl(dnnl_sgemm('N', 'N', pooled_.channels, columns, patch_elements_, 1.0f, weight,
                              patch_elements_, columns_.data(), columns, 0.0f, product, columns),
                   "conv2d: forward"));
      if (first) {
        std::fill_n(best_at_.begin(), products, 0);
      } else {
        kernels_.take_larger(product, products, static_cast<int32_t>(FirstPixel(y, x)),
                             best_.data(), best_at_.data());
      }
    }
  }
  return absl::OkStatus();
}

void PooledConv::WriteOut(const Arrays& arrays, int64_t first_image, int64_t images,
                          int64_t first_window, int64_t windows) {
  const int64_t columns = windows * kLanes;
  for (int64_t o = 0; o < pooled_.channels; ++o) {
    kernels_.add_bias(arrays.bias == nullptr ? 0.0f : arrays.bias[o], relu_, columns,
                      best_.data() + o * columns);
  }
  const int64_t image_step = pooled_.elements();
  for (int64_t w = 0; w < windows; ++w) {
    const int64_t window = first_window + w;
    const int64_t at =
        FirstPixel(window / pooled_.width * window_.height, window % pooled_.width * window_.width);
    const int64_t to = first_image * image_step + window * pooled_.channels;
    kernels_.deinterleave(best_.data() + w * kLanes, columns, pooled_.channels, images, image_step,
                          arrays.output + to);
    kernels_.deinterleave_shifted(best_at_.data() + w * kLanes, columns, pooled_.channels, images,
                                  image_step, static_cast<int32_t>(at), arrays.origin + to);
  }
}

}  // namespace tributary
