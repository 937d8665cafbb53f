// Plain loops over arrays that the compiler turns into vector code.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_LOOPS_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_LOOPS_H_

#include <cstdint>

namespace tributary {

// sums[j] = sum over i of rows[i, j].
void SumRows(const float* rows, int64_t count, int64_t width, float* sums);

// y = max(x, 0) as PyTorch has it: NaN stays NaN. `output` may be `input`.
void ReluForward(const float* input, int64_t elements, float* output);
// dx = dy where y > 0, else 0; NaN in y lets dy through. `input_gradient` may be `output_gradient`.
void ReluBackward(const float* output, const float* output_gradient, int64_t elements,
                  float* input_gradient);

// product[i] = a[i] b[i]; `product` may be `a`.
void Multiply(const float* a, const float* b, int64_t elements, float* product);

// Whether any element is infinite or NaN.
bool HasNonFinite(const float* values, int64_t elements);

// target[c, r] = source[r, c]: [rows, columns] to [columns, rows].
void Transpose(const float* source, int64_t rows, int64_t columns, float* target);

// The gradient of max pooling. For each of `count` images: `image` (image_elements, overwritten) is
// zero but for the sum of values[p, c] at pixel origin[p, c], channel c.
void ScatterAdd(const float* values, const int32_t* origin, int64_t count, int64_t pixels,
                int64_t channels, int64_t image_elements, float* image);

}  // namespace tributary

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_LOOPS_H_
