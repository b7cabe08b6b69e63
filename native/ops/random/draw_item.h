// The bodies that draw random numbers on a GPU. Read by NVRTC too: no std headers.
#pragma once
#include "device/element.h"
#include "ops/random/distributions.h"

namespace avida::ops {

// Each item is one block of random words; Draw is one of distributions.h. T is the element type, or AnyElement.
template <class T, class Draw>
struct DrawItem {
  static constexpr const char* header = "ops/random/draw_item.h";
  struct Params {
    void* out;
    int type;  // for AnyElement
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
      if (const long i = drawn_index<count>(block, k); i < params.elements)
        store_element<T>(params.out, params.type, i, drawn[k]);
  }
};

// Each item is an element; Draw gives the number of any element by itself.
template <class T, class Draw>
struct DrawElement {
  static constexpr const char* header = "ops/random/draw_item.h";
  using Params = typename DrawItem<T, Draw>::Params;

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    store_element<T>(params.out, params.type, i, params.draw(params.key, i));
  }
};

}  // namespace avida::ops
