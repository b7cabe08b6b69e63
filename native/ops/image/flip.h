// The arithmetic of flip.
#pragma once
#include "kernel/kernel.h"

namespace avida::ops {

struct FlipArgs {  // one per sample
  int horizontal = 1, vertical = 0, depthwise = 0;
};

struct Flip {  // samples are viewed as (frame, depth, height, width, channel)
  static constexpr bool moves_only = true;

  template <class T>
  AVIDA_HD AVIDA_INLINE static void run(Out<T, 5> out, In<T, 5> in, Index<5> i, const FlipArgs& args) {
    Index<5> from = i;
    if (args.depthwise) from[1] = in.shape[1] - 1 - i[1];
    if (args.vertical) from[2] = in.shape[2] - 1 - i[2];
    if (args.horizontal) from[3] = in.shape[3] - 1 - i[3];
    out(i) = in(from);
  }
};

}  // namespace avida::ops
