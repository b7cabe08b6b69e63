// Warps on a GPU, one item for each pixel of the output: for all types, channels and dimensions.
#pragma once
#include "device/divide.h"
#include "device/element.h"
#include "loops/warping/warp_map.h"

namespace avida {

// An image, or a volume, for any map.
struct WarpImage {
  void* out;
  const void *in, *fill;  // fill: one element for each channel, of the input's type
  int to, from, element;  // element types, where they are known at run time only; bytes of the input's
  bool linear;
  Border border;
  int in_size[3];  // x, y, z
  long out_size[3], channels;
};

// The part of an item's work that does not depend on the map. To and From are element types, or AnyElement.
template <int N, class To, class From>
struct ItemPixels {
  AVIDA_HD AVIDA_KERNEL_INLINE static void make(const WarpImage& params, const Place<N>& place, long item) {
    int first[N];
    float part[N];
    for (int d = 0; d < N; d++) {
      float x = place[d] - (params.linear ? 0.5f : 0);
      first[d] = element_before(x, params.in_size[d], params.border, params.linear);
      part[d] = x - static_cast<float>(first[d]);
    }
    const long to = item * params.channels;
    if (!params.linear) {
      const char* pixel = found(params, first);
      for (long c = 0; c < params.channels; c++) convert_element<To, From>(params, pixel, c, to + c);
      return;
    }
    const char* corner[1 << N];
    for (int k = 0; k < 1 << N; k++) {
      int index[N];
      for (int d = 0; d < N; d++) index[d] = first[d] + (k >> d & 1);
      corner[k] = found(params, index);
    }
    for (long c = 0; c < params.channels; c++) {
      float value[1 << N];
      for (int k = 0; k < 1 << N; k++) value[k] = load_element<float, From>(corner[k], params.from, c);
      for (int d = 0; d < N; d++)
        for (int k = 0; k < 1 << (N - 1 - d); k++) value[k] = mix(value[2 * k], value[2 * k + 1], part[d]);
      store_element<To>(params.out, params.to, to + c, value[0]);
    }
  }

 private:
  AVIDA_HD AVIDA_INLINE static const char* found(const WarpImage& params, const int (&index)[N]) {
    long at = 0;
    for (int d = N - 1; d >= 0; d--) {
      int i = border_index(params.border, index[d], params.in_size[d]);
      if (i < 0) return static_cast<const char*>(params.fill);
      at = at * params.in_size[d] + i;
    }
    return static_cast<const char*>(params.in) + at * params.channels * params.element;
  }

  // Elements that are only moved stay as they are.
  template <class Out, class In>
  AVIDA_HD AVIDA_INLINE static void convert_element(const WarpImage& params, const char* pixel, long c, long to) {
    if constexpr (!same_type<In, AnyElement>) {
      store_element<Out>(params.out, params.to, to, reinterpret_cast<const In*>(pixel)[c]);
    } else if (params.to == params.from) {
      for (int b = 0; b < params.element; b++)
        static_cast<char*>(params.out)[to * params.element + b] = pixel[c * params.element + b];
    } else {
      store_element<Out>(params.out, params.to, to, load_element<double, In>(pixel, params.from, c));
    }
  }
};

template <class Map, class To, class From>
struct WarpItem {
  static constexpr const char* header = "loops/warping/warp_item.h";
  using Inner = Map;
  static constexpr int N = Map::dims;
  struct Params {
    WarpImage image;
    Map map;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    Place<N> centre{};
    for (long d = 0, rest = item; d < N; d++) {
      const Divided parts = divided(rest, params.image.out_size[d]);
      centre[d] = static_cast<float>(parts.rest) + 0.5f;
      rest = parts.whole;
    }
    ItemPixels<N, To, From>::make(params.image, params.map(centre), item);
  }
};

#ifndef __CUDACC__
extern template struct ItemPixels<2, unsigned char, unsigned char>;
extern template struct ItemPixels<2, float, float>;
extern template struct ItemPixels<2, AnyElement, AnyElement>;
#endif

}  // namespace avida
