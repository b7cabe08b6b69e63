// How the CUDA compiler is to unroll the loop that follows: the host's compiler decides for itself.
#pragma once

#ifdef __CUDACC__
#define AVIDA_UNROLL _Pragma("unroll")
#define AVIDA_DO_NOT_UNROLL _Pragma("unroll 1")
#else
#define AVIDA_UNROLL
#define AVIDA_DO_NOT_UNROLL
#endif
