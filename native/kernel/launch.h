// What a GPU runs. A body makes any item of n from plain parameters:
//
//   struct Body {
//     static constexpr const char* header = "ops/.../body.h";  // where it stands
//     struct Params { ... };                                   // numbers, arrays of fixed size, pointers
//     AVIDA_HD static void run(const Params& params, long item);
//   };
//
// A kernel takes the items of all samples of a batch at once.
#pragma once
#include "kernel/macros.h"

namespace avida {

template <class Body>
struct Items {  // of one sample
  long first, count;
  typename Body::Params params;
};

#ifdef __CUDACC__
template <class Body>
__global__ void run_items(const Items<Body>* __restrict__ samples) {
  const Items<Body>& items = samples[blockIdx.y];
  const long step = static_cast<long>(gridDim.x) * blockDim.x;
  for (long i = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x; i < items.count; i += step)
    Body::run(items.params, items.first + i);
}
#endif

}  // namespace avida
