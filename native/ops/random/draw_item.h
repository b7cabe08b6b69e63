// Random numbers of one block. Read by NVRTC too: no std headers.
#pragma once
#include "ops/random/distributions.h"

namespace avida::ops {

// An item is one block of random words; Draw is one of distributions.h.
template <class T, class Draw>
struct DrawItem {
  static constexpr const char* header = "ops/random/draw_item.h";
  struct Params {
    T* out;
    long elements;
    RandomKey key;
    Draw draw;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long block) {
    using Number = typename Draw::Number;
    constexpr int count = kPerBlock<Number>;
    Number drawn[count];
    params.draw(random_block(params.key, static_cast<unsigned>(block)), drawn);
    for (int k = 0; k < count; k++)
      if (const long i = drawn_place<count>(block, k); i < params.elements) params.out[i] = convert<T>(drawn[k]);
  }
};

}  // namespace avida::ops
