// The family of operators that make item i of n (an element, a pixel, a box, a block of random numbers) from plain
// parameters, by a body as kernel/launch.h describes it. Items know nothing of each other, so that any thread may make
// any of them.
#pragma once
#include "op/launches.h"

namespace avida {

// Makes the items [begin, end) of a sample.
template <class Body, class Work>
AVIDA_INLINE void each_item(const Work& work, long begin, long end, const typename Body::Params& given) {
  if (work.launches) return work.launches->template add<Body>(begin, end, given);
  const typename Body::Params params = given;  // a copy that writes to the output cannot alias
  for (long item = begin; item < end; item++) Body::run(params, item);
}

// The same, where the host has a faster loop that makes the same bits: it is run, and the body is for GPUs.
template <class Body, class Work, class HostLoop>
AVIDA_INLINE void each_item(const Work& work, long begin, long end, const typename Body::Params& params,
                            HostLoop&& host_loop) {
  if (work.launches)
    work.launches->template add<Body>(begin, end, params);
  else if (begin < end)
    host_loop();
}

}  // namespace avida
