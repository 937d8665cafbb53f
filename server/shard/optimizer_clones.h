// TRIBUTARY_CPU_CLONES before a function compiles it for several instruction sets; the program
// chooses among them once, when it starts. Every clone gives the same bits (see optimizer.h). It
// pays where loops take roots and divide (AdaGrad's 1.45 times as fast with AVX-512 as with SSE2);
// plain products and sums wait for the memory in any case.
//
// The choice runs before the sanitizers are ready, so their builds do without.
#ifndef TRIBUTARY_SERVER_SHARD_OPTIMIZER_CLONES_H_
#define TRIBUTARY_SERVER_SHARD_OPTIMIZER_CLONES_H_

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TRIBUTARY_CPU_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TRIBUTARY_CPU_CLONES
#endif

#endif  // TRIBUTARY_SERVER_SHARD_OPTIMIZER_CLONES_H_
