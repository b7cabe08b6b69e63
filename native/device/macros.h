// What a body needs to be compiled by the host compiler and by NVRTC alike.
#pragma once

#ifdef __CUDACC__
#define AVIDA_HD __host__ __device__
#define AVIDA_INLINE __forceinline__
#else
#define AVIDA_HD
#define AVIDA_INLINE inline __attribute__((always_inline))
#endif
