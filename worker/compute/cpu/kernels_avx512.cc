#define KERNELS kAvx512Kernels
#include "worker/compute/cpu/kernels.inc"
