#define KERNELS kAvx2Kernels
#include "worker/compute/cpu/kernels.inc"
