#include "worker/compute/cpu/sparse_conv_gradient.h"

#include <algorithm>
#include <bit>

#include "common/base/status_macros.h"

namespace tributary {

SparseConvGradient::SparseConvGradient(const Conv2dLayer& conv, const LayerPlan& plan,
                                       const Shape& pooled)
    : conv_(conv),
      input_(plan.input),
      channels_(plan.output.channels),
      pooled_pixels_(pooled.height * pooled.width),
      is_padded_(conv.padding.height > 0 || conv.padding.width > 0),
      row_elements_(conv.kernel.width * plan.input.channels),
      row_vectors_((row_elements_ + kRowVector - 1) / kRowVector),
      image_row_((plan.input.width + 2 * conv.padding.width) * plan.input.channels),
      weight_elements_(channels_ * conv.kernel.height * row_vectors_ * kRowVector),
      channel_terms_(channels_ * pooled_pixels_ + 1),
      channel_counts_(channels_),
      last_at_pixel_((input_.height + 2 * conv.padding.height) *
                     (input_.width + 2 * conv.padding.width)),
      previous_(channels_ * pooled_pixels_),
      pixel_terms_(channels_) {
  const int64_t weight_row = conv.kernel.height * row_vectors_ * kRowVector;
  for (int64_t i = 0; i < channels_ * pooled_pixels_; ++i) {
    weight_row_.push_back(static_cast<int32_t>(i / pooled_pixels_ * weight_row));
  }
  for (int64_t y = 0; y < plan.output.height; ++y) {
    for (int64_t x = 0; x < plan.output.width; ++x) {
      patches_.push_back(
          static_cast<int32_t>(y * conv.stride.height * (input_.width + 2 * conv.padding.width) +
                               x * conv.stride.width));
    }
  }
  if (is_padded_) {
    const int64_t rows = input_.height + 2 * conv.padding.height;
    padded_input_.resize(rows * image_row_ + kBufferSlack);
    padded_gradient_.resize(padded_input_.size());
  }
}

absl::Status SparseConvGradient::Initialize() {
  ASSIGN_OR_RETURN(packed_, AlignedBuffer::Create(weight_elements_));
  ASSIGN_OR_RETURN(sums_, AlignedBuffer::Create(weight_elements_));
  return absl::OkStatus();
}

void SparseConvGradient::UseWeight(const float* weight) {
  const int64_t row_length = row_vectors_ * kRowVector;
  for (int64_t o = 0; o < channels_; ++o) {
    for (int64_t c = 0; c < input_.channels; ++c) {
      for (int64_t y = 0; y < conv_.kernel.height; ++y) {
        float* row = packed_.data() + (o * conv_.kernel.height + y) * row_length;
        for (int64_t x = 0; x < conv_.kernel.width; ++x) {
          row[x * input_.channels + c] = *weight++;
        }
      }
    }
  }
}

void SparseConvGradient::UnpackWeightGradient(float* weight_gradient) const {
  const int64_t row_length = row_vectors_ * kRowVector;
  for (int64_t o = 0; o < channels_; ++o) {
    for (int64_t c = 0; c < input_.channels; ++c) {
      for (int64_t y = 0; y < conv_.kernel.height; ++y) {
        const float* row = sums_.data() + (o * conv_.kernel.height + y) * row_length;
        for (int64_t x = 0; x < conv_.kernel.width; ++x) {
          *weight_gradient++ = row[x * input_.channels + c];
        }
      }
    }
  }
}

void SparseConvGradient::Compute(int64_t batch, const Arrays& arrays) {
  std::fill_n(sums_.data(), weight_elements_, 0.0f);
  for (int64_t n = 0; n < batch; ++n) {
    const int64_t pooled = n * pooled_pixels_ * channels_;
    CollectTerms(arrays.pooled_gradient + pooled, arrays.origin + pooled);
    const float* image = arrays.input + n * input_.elements();
    AddWeightGradient(is_padded_ ? Padded(image) : image);
    if (arrays.input_gradient == nullptr) continue;
    float* gradient = arrays.input_gradient + n * input_.elements();
    if (is_padded_) {
      std::fill(padded_gradient_.begin(), padded_gradient_.end(), 0.0f);
      AddInputGradient(padded_gradient_.data());
      CutPadding(padded_gradient_.data(), gradient);
    } else {
      std::fill_n(gradient, input_.elements(), 0.0f);
      AddInputGradient(gradient);
    }
  }
  UnpackWeightGradient(arrays.weight_gradient);
}

// Half of the elements have no gradient, in no order that a branch could be predicted by: each is
// written, and the count grows for those that do.
void SparseConvGradient::CollectTerms(const float* pooled_gradient, const int32_t* origin) {
  const int64_t channels = channels_;
  const auto pixel_elements = static_cast<int32_t>(input_.channels);
  for (int64_t o = 0; o < channels; ++o) {
    Weighted* terms = channel_terms_.data() + o * pooled_pixels_;
    int64_t count = 0;
    for (int64_t p = 0; p < pooled_pixels_; ++p) {
      const float value = pooled_gradient[p * channels + o];
      terms[count] = {value, origin[p * channels + o] * pixel_elements};
      count += (std::bit_cast<uint32_t>(value) << 1) != 0 ? 1 : 0;  // not zero of either sign
    }
    channel_counts_[o] = count;
  }
}

void SparseConvGradient::ChainTermsByPixel() {
  std::fill(last_at_pixel_.begin(), last_at_pixel_.end(), -1);
  const auto pixel_elements = static_cast<int32_t>(input_.channels);
  for (int64_t o = 0; o < channels_; ++o) {
    const int64_t begin = o * pooled_pixels_;
    for (int64_t i = begin; i < begin + channel_counts_[o]; ++i) {
      int32_t& last = last_at_pixel_[channel_terms_[i].offset / pixel_elements];
      previous_[i] = last;
      last = static_cast<int32_t>(i);
    }
  }
}

void SparseConvGradient::AddWeightGradient(const float* image) {
  const int64_t row_length = row_vectors_ * kRowVector;
  const Rows rows{.count = conv_.kernel.height,
                  .vectors = row_vectors_,
                  .source_stride = image_row_ * conv_.dilation.height,
                  .target_stride = row_length};
  for (int64_t o = 0; o < channels_; ++o) {
    kernels_.add_weighted_rows(channel_terms_.data() + o * pooled_pixels_, channel_counts_[o],
                               image, rows, sums_.data() + o * rows.count * row_length);
  }
}

void SparseConvGradient::AddInputGradient(float* image) {
  const int64_t row_length = row_vectors_ * kRowVector;
  const Rows rows{.count = conv_.kernel.height,
                  .vectors = row_vectors_,
                  .source_stride = row_length,
                  .target_stride = image_row_ * conv_.dilation.height};
  ChainTermsByPixel();
  for (const int32_t pixel : patches_) {
    int64_t count = 0;
    for (int32_t i = last_at_pixel_[pixel]; i >= 0; i = previous_[i]) {
      pixel_terms_[count++] = {channel_terms_[i].weight, weight_row_[i]};
    }
    kernels_.add_weighted_rows(pixel_terms_.data(), count, packed_.data(), rows,
                               image + pixel * input_.channels);
  }
}

// The borders of padded_input_ are zero from the start.
const float* SparseConvGradient::Padded(const float* image) {
  const int64_t row = input_.width * input_.channels;
  float* to = padded_input_.data() + conv_.padding.height * image_row_ +
              conv_.padding.width * input_.channels;
  for (int64_t y = 0; y < input_.height; ++y)
    std::copy_n(image + y * row, row, to + y * image_row_);
  return padded_input_.data();
}

void SparseConvGradient::CutPadding(const float* padded, float* image) const {
  const int64_t row = input_.width * input_.channels;
  const float* from =
      padded + conv_.padding.height * image_row_ + conv_.padding.width * input_.channels;
  for (int64_t y = 0; y < input_.height; ++y) {
    std::copy_n(from + y * image_row_, row, image + y * row);
  }
}

}  // namespace tributary
