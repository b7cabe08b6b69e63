// The family of operators that make item i of n (an element, a pixel, a box, a block of random numbers) from plain
// parameters:
//
//   template <class T>
//   struct MaskPixel {
//     struct Params { T* out; const T* in; ... };  // numbers, arrays of fixed size, pointers
//     AVIDA_HD static void run(const Params& params, long item);
//   };
//
// Items know nothing of each other, so that any thread may make any of them.
#pragma once
#include "kernel/macros.h"

namespace avida {

// Makes the items [begin, end).
template <class Body>
AVIDA_INLINE void each_item(long begin, long end, const typename Body::Params& given) {
  const typename Body::Params params = given;  // a copy that writes to the output cannot alias
  for (long item = begin; item < end; item++) Body::run(params, item);
}

// The same, where the host has a faster loop that makes the same bits: it is run, and the body is for other devices.
template <class Body, class HostLoop>
AVIDA_INLINE void each_item(long begin, long end, const typename Body::Params&, HostLoop&& host_loop) {
  if (begin < end) host_loop();
}

}  // namespace avida
