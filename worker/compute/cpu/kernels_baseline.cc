#define KERNELS kBaselineKernels
#include "worker/compute/cpu/kernels.inc"
