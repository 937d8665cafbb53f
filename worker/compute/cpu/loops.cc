#include "worker/compute/cpu/loops.h"

#include <algorithm>
#include <cstring>

#include "worker/compute/cpu/multiversion.h"

namespace tributary {

TRIBUTARY_MULTIVERSION
void SumRows(const float* rows, int64_t count, int64_t width, float* __restrict sums) {
  std::fill_n(sums, width, 0.0f);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < width; ++j) sums[j] += rows[i * width + j];
  }
}

TRIBUTARY_MULTIVERSION
void ReluForward(const float* input, int64_t elements, float* output) {
  for (int64_t i = 0; i < elements; ++i) output[i] = input[i] <= 0.0f ? 0.0f : input[i];
}

TRIBUTARY_MULTIVERSION
void ReluBackward(const float* output, const float* output_gradient, int64_t elements,
                  float* input_gradient) {
  for (int64_t i = 0; i < elements; ++i) {
    input_gradient[i] = output[i] <= 0.0f ? 0.0f : output_gradient[i];
  }
}

TRIBUTARY_MULTIVERSION
void Multiply(const float* a, const float* b, int64_t elements, float* product) {
  for (int64_t i = 0; i < elements; ++i) product[i] = a[i] * b[i];
}

TRIBUTARY_MULTIVERSION
bool HasNonFinite(const float* values, int64_t elements) {
  // Without the sign, exactly the infinities and NaNs are at or above the all-ones exponent.
  constexpr int32_t kMagnitude = 0x7fffffff;
  constexpr int32_t kInfinity = 0x7f800000;
  int32_t found = 0;
  for (int64_t i = 0; i < elements; ++i) {
    int32_t bits;
    std::memcpy(&bits, values + i, sizeof(bits));
    found |= (bits & kMagnitude) >= kInfinity ? 1 : 0;
  }
  return found != 0;
}

void Transpose(const float* source, int64_t rows, int64_t columns, float* __restrict target) {
  if (rows == 1 || columns == 1) {
    std::copy_n(source, rows * columns, target);
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) target[c * rows + r] = source[r * columns + c];
  }
}

void ScatterAdd(const float* values, const int32_t* origin, int64_t count, int64_t pixels,
                int64_t channels, int64_t image_elements, float* __restrict image) {
  for (int64_t n = 0; n < count; ++n, image += image_elements) {
    std::fill_n(image, image_elements, 0.0f);
    for (int64_t p = 0; p < pixels; ++p) {
      for (int64_t c = 0; c < channels; ++c) image[*origin++ * channels + c] += *values++;
    }
  }
}

}  // namespace tributary
