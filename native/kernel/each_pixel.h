// Items of the family each_pixel: one pixel each.
#pragma once
#include "kernel/element.h"
#include "kernel/pixel.h"

namespace avida {

// To and From are element types, or AnyElement.
template <class Body, class To, class From, class Colors>
struct PixelItem {
  static constexpr const char* header = "kernel/each_pixel.h";
  using Inner = Body;
  struct Params {
    void* out;
    const void* in;
    int to, from;  // the types, where they are known at run time only
    long plane;    // elements from a channel to the next; 0: they lie side by side
    Colors colors;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const long plane = params.plane, line = plane ? item / plane : item, x = plane ? item % plane : 0;
    const long step = plane ? plane : 1;
    const long from = line * Body::in * step + x, to = line * Body::out * step + x;
    Pixel<Body::in> pixel;
    for (int c = 0; c < Body::in; c++) pixel[c] = load_element<float, From>(params.in, params.from, from + c * step);
    const Pixel<Body::out> made = Body::run(pixel, params.colors);
    for (int c = 0; c < Body::out; c++) store_element<To>(params.out, params.to, to + c * step, made[c]);
  }
};

}  // namespace avida
