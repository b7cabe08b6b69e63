// AVIDA_KERNEL_INLINE before a function of a body that only GPUs run.
#pragma once

// Kernels inline such functions. The host runs them only where it plays a GPU: it compiles them once, and for size.
#ifdef __CUDACC__
#define AVIDA_KERNEL_INLINE __forceinline__
#else
#define AVIDA_KERNEL_INLINE __attribute__((cold))
#endif
