// The family each_item for elements that a GPU makes sixteen bytes at once (loops/items/pieces.h).
#pragma once
#include "loops/items/each_item.h"
#include "loops/items/pieces.h"

namespace avida {

// Makes the elements [begin, end) of a sample.
template <class Body, int size, class Work, class HostLoop>
AVIDA_INLINE void each_piece(const Work& work, long begin, long end, const typename Body::Params& params,
                             HostLoop&& host_loop) {
  using Pieces = InPieces<Body, size>;
  each_item<Pieces>(work, 0, Pieces::items_for(end - begin), {params, begin, end}, host_loop);
}

}  // namespace avida
