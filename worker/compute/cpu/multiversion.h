// Compiles a function for several processors; the program picks one at start. Multiplications and
// additions are not fused (-ffp-contract=off), so all versions give the same bits.
//
// The choice is made by an ifunc resolver, which runs before a sanitizer's runtime is ready:
// sanitized builds have the plain version alone.
#ifndef TRIBUTARY_WORKER_COMPUTE_CPU_MULTIVERSION_H_
#define TRIBUTARY_WORKER_COMPUTE_CPU_MULTIVERSION_H_

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define TRIBUTARY_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TRIBUTARY_MULTIVERSION
#endif

#endif  // TRIBUTARY_WORKER_COMPUTE_CPU_MULTIVERSION_H_
