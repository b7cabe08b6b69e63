// Random numbers on a GPU. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/element.h"
#include "ops/random/distributions.h"

namespace avida::ops {

// An item is one block of random words; Draw is one of distributions.h. T is the element type, or AnyElement.
template <class T, class Draw>
struct DrawItem {
  static constexpr const char* header = "ops/random/draw_item.h";
  struct Params {
    void* out;
    int type;  // where it is known at run time only
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
      if (const long i = drawn_place<count>(block, k); i < params.elements)
        store_element<T>(params.out, params.type, i, drawn[k]);
  }
};

// An item is one number of a beta distribution.
template <class T>
struct BetaItem {
  static constexpr const char* header = "ops/random/draw_item.h";
  struct Params {
    void* out;
    int type;
    RandomKey key;
    Beta beta;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    PhiloxBlock block = random_block(params.key, static_cast<unsigned>(i));
    double drawn;
    while (params.beta.attempt(block, drawn) < 0) block = following_block(params.key, block);
    store_element<T>(params.out, params.type, i, drawn);
  }
};

// Number i of a stream of indices in [0, count), each equally likely, as draw_indices() gives them.
AVIDA_HD AVIDA_INLINE long drawn_index(const RandomKey& key, long count, long i) {
  if (count > 0xffffffffl) return below(count, key, random_block(key, static_cast<unsigned>(i)));
  constexpr long tile = 4 * kLanes;
  const unsigned few = static_cast<unsigned>(count), surplus = (0u - few) % few;
  const unsigned block = static_cast<unsigned>(i / tile * kLanes + i % kLanes);
  return below(few, surplus, key, random_block(key, block), static_cast<int>(i % tile / kLanes));
}

// An item is one of `count` given numbers, each equally likely.
struct ChosenNumber {
  static constexpr const char* header = "ops/random/draw_item.h";
  struct Params {
    void* out;
    int type;
    RandomKey key;
    const double* numbers;
    long count;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    store_element<AnyElement>(params.out, params.type, i, params.numbers[drawn_index(params.key, params.count, i)]);
  }
};

}  // namespace avida::ops
