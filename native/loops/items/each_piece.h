// each_item of op/each_item.h for bodies of elements that can make sixteen bytes at once (kernel/pieces.h) on GPUs.
#pragma once
#include "kernel/pieces.h"
#include "op/each_item.h"

namespace avida {

// Makes the elements [begin, end) of a sample.
template <class Body, int size, class Work, class HostLoop>
AVIDA_INLINE void each_piece(const Work& work, long begin, long end, const typename Body::Params& params,
                             HostLoop&& host_loop) {
  using Pieces = InPieces<Body, size>;
  const long pieces = (end - begin + Pieces::kElements - 1) / Pieces::kElements;
  each_item<Pieces>(work, 0, pieces, {params, begin, end}, host_loop);
}

}  // namespace avida
