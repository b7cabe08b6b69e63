// The family of operators that make independent items from plain parameters.
// An item is an element, a pixel, a box, a block of random numbers; device/launch.h describes the body that makes one.
#pragma once
#include "operator/launches.h"

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
