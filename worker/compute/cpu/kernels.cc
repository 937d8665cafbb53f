#include "worker/compute/cpu/kernels.h"

namespace tributary {
namespace {

const Kernels& Choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return kAvx512Kernels;
  }
  if (__builtin_cpu_supports("avx2")) return kAvx2Kernels;
#endif
  return kBaselineKernels;
}

}  // namespace

const Kernels& BestKernels() {
  static const Kernels& best = Choose();
  return best;
}

}  // namespace tributary
