// Positions between the elements of an image or volume, affine maps, and interpolation at a position.
#pragma once
#include "device/border.h"
#include "device/convert.h"
#include "loops/items/kernel_inline.h"

namespace avida {

// A position, in the order x, y, z. Integers are the corners of elements, their centres lie half way between.
template <int N>
struct Place {
  float at[N];
  AVIDA_HD float& operator[](int d) { return at[d]; }
  AVIDA_HD float operator[](int d) const { return at[d]; }
};

// position -> M * position + T, as the rows of [M T].
template <int N>
struct Affine {
  static constexpr const char* header = "loops/warping/warp_map.h";
  static constexpr int dims = N;
  float m[N][N + 1];

  AVIDA_HD AVIDA_INLINE Place<N> operator()(const Place<N>& from) const {
    Place<N> to{};
    for (int r = 0; r < N; r++) {
      float sum = m[r][0] * from[0];
      for (int c = 1; c < N; c++) sum += m[r][c] * from[c];
      to[r] = sum + m[r][N];
    }
    return to;
  }
  // From one pixel of a row to the next.
  AVIDA_HD AVIDA_INLINE Place<N> step() const {
    Place<N> to{};
    for (int r = 0; r < N; r++) to[r] = m[r][0];
    return to;
  }
};

// A dense image or volume, channels last. Not empty, unless the border is filled.
template <class T, int N>
struct Texture {
  const T* data;
  const T* fill;  // one for each channel
  int size[N];    // x, y, z
  long stride[N];
  Border border;

  AVIDA_HD AVIDA_INLINE const T* element(const int (&index)[N]) const {
    const T* found = data;
    for (int d = 0; d < N; d++) {
      int i = border_index(border, index[d], size[d]);
      if (i < 0) return fill;
      found += i * stride[d];
    }
    return found;
  }
};

// The element before a position x on an axis of `size`. x is moved first: to the outermost elements if the border
// continues them; else not so far outside that anything changes. NaN counts as the least.
AVIDA_HD AVIDA_INLINE int element_before(float& x, int size, Border border, bool linear) {
  const bool clamps = border == Border::clamp && linear && size > 1;
  const bool repeats = border != Border::fill && border != Border::clamp;
  const float low = clamps ? 0 : repeats ? -0x1p30f : -2;
  const float high = clamps ? static_cast<float>(size - 1) : repeats ? 0x1p30f : static_cast<float>(size) + 1;
  x = x > low ? x : low;
  x = x < high ? x : high;
  int whole = static_cast<int>(x);
  whole -= x < static_cast<float>(whole);
  return clamps && whole > size - 2 ? size - 2 : whole;
}

AVIDA_HD AVIDA_INLINE float mix(float a, float b, float part) { return a * (1 - part) + b * part; }

// Channel c between the 2^N elements around a position: x varies first.
template <int N, class T>
AVIDA_HD AVIDA_INLINE float interpolate(const T* const (&corner)[1 << N], const float (&part)[N], long c) {
  float value[1 << N];
  for (int k = 0; k < 1 << N; k++) value[k] = static_cast<float>(typename ComputeType<T>::type(corner[k][c]));
  for (int d = 0; d < N; d++)
    for (int k = 0; k < 1 << (N - 1 - d); k++) value[k] = mix(value[2 * k], value[2 * k + 1], part[d]);
  return value[0];
}

// Element `first` and those after it along every axis; some may lie outside.
template <int N, class T>
AVIDA_HD AVIDA_INLINE void find_corners(const Texture<T, N>& in, const int (&first)[N], const T* (&corner)[1 << N]) {
  for (int k = 0; k < 1 << N; k++) {
    int index[N];
    for (int d = 0; d < N; d++) index[d] = first[d] + (k >> d & 1);
    corner[k] = in.element(index);
  }
}

// The same where none lies outside; the first lies `offset` elements after the first one of the texture.
template <int N, class T>
AVIDA_HD AVIDA_INLINE void find_inner_corners(const Texture<T, N>& in, long offset, const T* (&corner)[1 << N]) {
  const T* base = in.data + offset;
  for (int k = 0; k < 1 << N; k++) {
    corner[k] = base;
    for (int d = 0; d < N; d++) corner[k] += (k >> d & 1) * in.stride[d];
  }
}

// Whether all elements around a position are filled.
template <int N, class T>
AVIDA_HD AVIDA_INLINE bool is_beyond(const Texture<T, N>& in, const int (&first)[N]) {
  bool beyond = false;
  for (int d = 0; d < N; d++) beyond |= (first[d] < -1) | (first[d] >= in.size[d]);
  return beyond & (in.border == Border::fill);
}

}  // namespace avida
