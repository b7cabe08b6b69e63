// The weighted sum of a window on a GPU, one item for each element.
#pragma once
#include "loops/neighbours/neighbours.h"

namespace avida {

// Sum is float, or int for bytes: then weights have `bits` bits of fraction, and the sum is exact.
template <class Out, class In, class Sum, class Weight = Sum>
struct WindowSum {
  static constexpr const char* header = "loops/neighbours/window_sum.h";
  struct Params {
    Out* out;
    const In* in;
    const Weight* weights;   // in the order of memory
    const Sum* fill;         // what lies beyond the border
    Grid in_grid, out_grid;  // the window of an element begins at the position of that element in the input
    NeighbourWindow window;
    long parts_of_frame;
    long weights_of_frame, fill_of_frame;  // how far the next frame's are; 0: all frames have the same
    int bits;
  };

  AVIDA_HD AVIDA_KERNEL_INLINE static void run(const Params& params, long item) {
    GridPlace place = params.out_grid.place_of(item);
    long frame = place.part / params.parts_of_frame;
    const Weight* weight = params.weights + frame * params.weights_of_frame;
    Sum fill = params.fill[frame * params.fill_of_frame], sum = 0;
    each_neighbour(params.in_grid, params.window, place, [&](long index) {
      using Value = typename ComputeType<In>::type;
      Sum x = index < 0 ? fill : static_cast<Sum>(Value(params.in[index]));
      sum += x * static_cast<Sum>(*weight++);
    });
    if constexpr (same_type<Sum, float>)
      params.out[item] = convert<Out>(sum);
    else
      params.out[item] = saturate<Out>((sum + (1 << params.bits >> 1)) >> params.bits);
  }
};

}  // namespace avida
