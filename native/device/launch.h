// Bodies for GPU kernels. A body computes any of n items from plain parameters:
//
//   struct Body {
//     static constexpr const char* header = "ops/.../body.h";  // where it is defined
//     struct Params { ... };                                   // numbers, arrays of fixed size, pointers
//     AVIDA_HD static void run(const Params& params, long item);
//   };
//
// A kernel processes the items of all samples of a batch in one launch. If neighbours need the same data, a thread
// block computes an item together, in phases with a barrier between them and data in shared memory:
//
//     static constexpr int kThreads = 256, kPhases = 2;
//     static constexpr int kBlocks = 4;    // minimum resident blocks per SM (__launch_bounds__); optional, also above
//     static constexpr int kRepeated = 1;  // this phase and the next are repeated while any thread returns true in
//                                          // the second; optional
//     struct Shared { ... };             // up to 48 KiB
//     template <int phase>
//     AVIDA_HD static void run(const Params& params, Shared& shared, long item, int thread);
//
// Bodies whose kUsual is true are compiled in parallel when a GPU is first used.
#pragma once
#include "device/macros.h"

namespace avida {

template <class Body>
struct Items {  // of one sample
  long first, count;
  typename Body::Params params;
};

template <class Body, int phase>
AVIDA_HD constexpr bool is_repeated() {
  if constexpr (requires { Body::kRepeated; })
    return phase == Body::kRepeated;
  else
    return false;
}

constexpr int kItemThreads = 256;  // of a block, each of which makes its own items

// Bodies that make two pieces in an item, so that twice as much is being loaded: the first (k = 0) and the second piece
// of an item, which lie so that neighbouring threads have neighbouring pieces; and how many items n pieces are.
AVIDA_HD AVIDA_INLINE long piece_of_pair(long item, int k) {
  return item / kItemThreads * (2 * kItemThreads) + item % kItemThreads + k * kItemThreads;
}
AVIDA_HD AVIDA_INLINE long pairs_of(long n) { return (n + 2 * kItemThreads - 1) / (2 * kItemThreads) * kItemThreads; }

// Minimum resident blocks per SM; 0: the compiler decides.
template <class Body>
AVIDA_HD constexpr int blocks_together() {
  if constexpr (requires { Body::kBlocks; })
    return Body::kBlocks;
  else
    return 0;
}

#ifdef __CUDACC__
template <class Body>
__global__ void __launch_bounds__(kItemThreads, blocks_together<Body>())
    run_items(const Items<Body>* __restrict__ samples) {
  const Items<Body>& items = samples[blockIdx.y];
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < items.count; i += step)
    Body::run(items.params, items.first + i);
}

template <class Body, int phase>
__device__ AVIDA_INLINE auto run_phase(const typename Body::Params& params, typename Body::Shared& shared, long item) {
  return Body::template run<phase>(params, shared, item, static_cast<int>(threadIdx.x));
}

template <class Body, int phase = 0>
__device__ AVIDA_INLINE void run_phases(const typename Body::Params& params, typename Body::Shared& shared, long item) {
  if constexpr (phase == Body::kPhases) {
    return;
  } else if constexpr (is_repeated<Body, phase>()) {
    do {
      run_phase<Body, phase>(params, shared, item);
      __syncthreads();
    } while (__syncthreads_or(run_phase<Body, phase + 1>(params, shared, item)));
    run_phases<Body, phase + 2>(params, shared, item);
  } else {
    run_phase<Body, phase>(params, shared, item);
    __syncthreads();
    run_phases<Body, phase + 1>(params, shared, item);
  }
}

template <class Body>
__global__ void __launch_bounds__(Body::kThreads, blocks_together<Body>())
    run_blocks(const Items<Body>* __restrict__ samples) {
  __shared__ typename Body::Shared shared;
  const Items<Body>& items = samples[blockIdx.y];
  for (long i = blockIdx.x; i < items.count; i += gridDim.x) run_phases<Body>(items.params, shared, items.first + i);
}
#else
// The same on the CPU, which runs the threads of a phase one after the other.
template <class Body, int phase>
[[gnu::cold]] bool run_phase(const typename Body::Params& params, typename Body::Shared& shared, long item) {
  bool again = false;
  for (int thread = 0; thread < Body::kThreads; thread++)
    if constexpr (phase > 0 && is_repeated<Body, phase - 1>())
      again |= Body::template run<phase>(params, shared, item, thread);
    else
      Body::template run<phase>(params, shared, item, thread);
  return again;
}

template <class Body, int phase = 0>
[[gnu::cold]] void run_phases(const typename Body::Params& params, typename Body::Shared& shared, long item) {
  if constexpr (phase == Body::kPhases) {
    return;
  } else if constexpr (is_repeated<Body, phase>()) {
    do run_phase<Body, phase>(params, shared, item);
    while (run_phase<Body, phase + 1>(params, shared, item));
    run_phases<Body, phase + 2>(params, shared, item);
  } else {
    run_phase<Body, phase>(params, shared, item);
    run_phases<Body, phase + 1>(params, shared, item);
  }
}
#endif

}  // namespace avida
