// The largest, or the smallest, element of a window. What lies beyond a filled border is never picked.
#pragma once
#include "kernel/neighbours.h"

namespace avida {

template <class T, bool larger>
struct WindowPick {
  static constexpr const char* header = "kernel/window_pick.h";
  struct Params {
    T* out;
    const T* in;
    Grid grid;
    NeighbourWindow window;  // has the element itself
  };

  AVIDA_HD static void run(const Params& params, long item) {
    T picked = params.in[item];
    each_neighbour(params.grid, params.window, params.grid.place_of(item), [&](long index) {
      if (index < 0) return;
      T x = params.in[index];
      if (larger ? x > picked : x < picked) picked = x;
    });
    params.out[item] = picked;
  }
};

}  // namespace avida
