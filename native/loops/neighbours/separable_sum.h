// Separable convolutions on a GPU, one item for each element, with windows that are symmetric and of odd size.
// Beyond the border samples are reflected, without their outermost elements.
#pragma once
#include "loops/neighbours/neighbours.h"

namespace avida {

// The types that sums are computed in: float; Fixed, bytes between 0 and 255 with 7 bits of fraction, so that two of
// them can be added, and weights with 16; Whole, where all sums are known to fit.
using Fixed = unsigned short;
using Whole = short;
constexpr int kFixedBits = 7;

AVIDA_HD AVIDA_INLINE float weighted(float x, float weight) { return x * weight; }
AVIDA_HD AVIDA_INLINE Whole weighted(Whole x, Whole weight) {
  return static_cast<Whole>(static_cast<int>(x) * static_cast<int>(weight));
}
AVIDA_HD AVIDA_INLINE Fixed weighted(Fixed x, Fixed weight) {
  return static_cast<Fixed>(static_cast<unsigned>(x) * static_cast<unsigned>(weight) >> 16);
}

template <class T, class In>
AVIDA_HD AVIDA_INLINE T load_summand(In x) {
  if constexpr (same_type<T, Fixed>)
    return static_cast<Fixed>(x << kFixedBits);
  else
    return static_cast<T>(typename ComputeType<In>::type(x));
}

AVIDA_HD AVIDA_INLINE unsigned char byte_of(Fixed x) {
  int byte = (x + (1 << (kFixedBits - 1))) >> kFixedBits;
  return static_cast<unsigned char>(byte < 255 ? byte : 255);
}

// The weights of a window; half[k] is the weight at the distance k. A radius of 0 changes nothing.
template <class T>
struct HalfWindow {
  const T* half;
  long radius;
  T start;  // what sums begin with
};

// The sum along one axis. What it reads and makes are sums (T), or elements before the first and after the last axis.
template <class Out, class In, class T>
struct AxisSum {
  static constexpr const char* header = "loops/neighbours/separable_sum.h";
  struct Params {
    Out* out;
    const In* in;
    long step, extent;  // of the axis
    HalfWindow<T> window;
  };

  AVIDA_HD static AVIDA_INLINE T load(const In* in) {
    if constexpr (same_type<In, T>)
      return *in;
    else
      return load_summand<T>(*in);
  }

  AVIDA_HD AVIDA_KERNEL_INLINE static void run(const Params& params, long item) {
    const long at = item / params.step % params.extent, radius = params.window.radius;
    const In* in = params.in + item;
    const T* weights = params.window.half;
    T total = static_cast<T>(params.window.start + weighted(load(in), weights[0]));
    if (at >= radius && at + radius < params.extent) {
      for (long k = 1; k <= radius; k++) {
        T before = load(in - k * params.step), after = load(in + k * params.step);
        total = static_cast<T>(total + weighted(static_cast<T>(before + after), weights[k]));
      }
    } else {
      for (long k = 1; k <= radius; k++) {
        T before = load(in + (border_index(Border::reflect_101, at - k, params.extent) - at) * params.step);
        T after = load(in + (border_index(Border::reflect_101, at + k, params.extent) - at) * params.step);
        total = static_cast<T>(total + weighted(static_cast<T>(before + after), weights[k]));
      }
    }
    if constexpr (same_type<Out, T>)
      params.out[item] = total;
    else if constexpr (same_type<T, Fixed>)
      params.out[item] = byte_of(total);
    else
      params.out[item] = convert<Out>(total);
  }
};

template <class Out, class In, class T>
struct SeparableSum {
  static constexpr const char* header = "loops/neighbours/separable_sum.h";
  struct Params {
    Out* out;
    const In* in;
    Grid grid;
    int terms;                    // which are added up
    HalfWindow<T> windows[3][3];  // of each term, along depth, height, width
    float scale;                  // of a sum of Whole numbers
  };

  // The sum around `place` along the axes up to `axis`, the first of them innermost.
  template <int axis>
  AVIDA_HD AVIDA_KERNEL_INLINE static T sum(const Params& params, const HalfWindow<T>* windows, GridPlace place) {
    if constexpr (axis < 0) {
      return load_summand<T>(params.in[params.grid.item_at(place)]);
    } else {
      if (windows[axis].radius == 0) return sum<axis - 1>(params, windows, place);
      return sum_from<axis>(params, windows, place, windows[axis].start);
    }
  }

  template <int axis>
  AVIDA_HD AVIDA_KERNEL_INLINE static T sum_from(const Params& params, const HalfWindow<T>* windows, GridPlace place,
                                                 T total) {
    const HalfWindow<T>& window = windows[axis];
    const long centre = place.at[axis];
    auto neighbour = [&](long distance) {
      place.at[axis] = border_index(Border::reflect_101, centre + distance, params.grid.size[axis]);
      return sum<axis - 1>(params, windows, place);
    };
    total = static_cast<T>(total + weighted(neighbour(0), window.half[0]));
    for (long k = 1; k <= window.radius; k++) {
      T before = neighbour(-k), after = neighbour(k);
      total = static_cast<T>(total + weighted(static_cast<T>(before + after), window.half[k]));
    }
    return total;
  }

  AVIDA_HD AVIDA_KERNEL_INLINE static void run(const Params& params, long item) {
    const GridPlace place = params.grid.place_of(item);
    T total = sum<2>(params, params.windows[0], place);
    for (int term = 1; term < params.terms; term++) {
      const HalfWindow<T>* windows = params.windows[term];
      total = windows[2].radius ? sum_from<2>(params, windows, place, total)
                                : static_cast<T>(total + sum<1>(params, windows, place));
    }
    if constexpr (same_type<T, Fixed>)
      params.out[item] = byte_of(total);
    else if constexpr (same_type<T, Whole>)
      params.out[item] = convert<Out>(static_cast<float>(total) * params.scale);
    else
      params.out[item] = convert<Out>(total);
  }
};

}  // namespace avida
