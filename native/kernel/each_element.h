// Items of the family each_element.
#pragma once
#include "kernel/kernel.h"

namespace avida {

constexpr int kImageDim = 5;  // "FDHWC"

template <class Body, class T, class Args>
struct ElementItem {
  static constexpr const char* header = "kernel/each_element.h";
  using Inner = Body;
  struct Params {
    Out<T, kImageDim> out;
    In<T, kImageDim> in;
    Args args;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    Body::run(params.out, params.in, place_of(item, params.out.shape), params.args);
  }
};

}  // namespace avida
