// Unrolling hints for the CUDA compiler; the host compiler decides for itself.
#pragma once

#ifdef __CUDACC__
#define AVIDA_UNROLL _Pragma("unroll")
#define AVIDA_DO_NOT_UNROLL _Pragma("unroll 1")
#else
#define AVIDA_UNROLL
#define AVIDA_DO_NOT_UNROLL
#endif
