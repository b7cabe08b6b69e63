// The largest or smallest element of a window on a GPU, one item for each element. A filled border is never picked.
#pragma once
#include "loops/neighbours/neighbours.h"

namespace avida {

// The larger, or the smaller, of two; NaN if one of them is.
template <bool larger, class T>
AVIDA_HD AVIDA_INLINE T pick_of_two(T a, T b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  if constexpr (same_type<T, float>) {
    float picked;
    if constexpr (larger)
      asm("max.NaN.f32 %0, %1, %2;" : "=f"(picked) : "f"(a), "f"(b));
    else
      asm("min.NaN.f32 %0, %1, %2;" : "=f"(picked) : "f"(a), "f"(b));
    return picked;
  }
#endif
  const T picked = (larger ? b > a : b < a) ? b : a;  // a if one is NaN
  return b != b ? b : picked;
}

template <class T, bool larger>
struct WindowPick {
  static constexpr const char* header = "loops/neighbours/window_pick.h";
  struct Params {
    T* out;
    const T* in;
    Grid grid;
    NeighbourWindow window;  // has the element itself
  };

  AVIDA_HD AVIDA_KERNEL_INLINE static void run(const Params& params, long item) {
    T picked = params.in[item];
    each_neighbour(params.grid, params.window, params.grid.place_of(item), [&](long index) {
      if (index < 0) return;
      picked = pick_of_two<larger>(picked, params.in[index]);
    });
    params.out[item] = picked;
  }
};

}  // namespace avida
