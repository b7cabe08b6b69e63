// Colours of a sensor that sees one colour per pixel: red and blue in every other row and column, green between them.
// The missing ones come from the neighbours.
#pragma once
#include "kernel/convert.h"

namespace avida::ops {

enum class Demosaic { bilinear, edge_aware, gray, vng };

// Sums of four: the smallest type that holds them lets vectors hold most.
template <class T>
struct SumOf {
  using type = unsigned;
};
template <>
struct SumOf<unsigned char> {
  using type = unsigned short;
};

// A pixel and its neighbours.
template <class T>
struct Neighbourhood {
  using Sum = typename SumOf<T>::type;
  Sum center, left, right, above, below, corners;  // the sum of the four corners
  AVIDA_HD AVIDA_INLINE Neighbourhood(const T* upper, const T* row, const T* lower, long x)
      : center(row[x]),
        left(row[x - 1]),
        right(row[x + 1]),
        above(upper[x]),
        below(lower[x]),
        corners(static_cast<Sum>(upper[x - 1] + upper[x + 1] + lower[x - 1] + lower[x + 1])) {}
};

// `own` is the colour that this row has beside green: red or blue; `other` is the third one.
template <class T>
struct Colors {
  T own, green, other;
};

// Whether the sensor's pixel is green makes the difference: is_green has all bits or none. Both ways are computed,
// since a choice between bits vectorises and a branch does not.
template <bool edge_aware, class T>
AVIDA_HD AVIDA_INLINE Colors<T> demosaic(const Neighbourhood<T>& at, T is_green) {
  using Sum = typename Neighbourhood<T>::Sum;
  T across = static_cast<T>((at.left + at.right + 1) >> 1), down = static_cast<T>((at.above + at.below + 1) >> 1);
  T green = static_cast<T>(static_cast<Sum>(at.left + at.right + at.above + at.below + 2) >> 2);
  if constexpr (edge_aware) {
    auto change = [](Sum a, Sum b) { return static_cast<T>(a > b ? a - b : b - a); };
    T change_across = change(at.left, at.right), change_down = change(at.above, at.below);
    green = change_across > change_down ? down : across;
  }
  auto choose = [is_green](T of_green, T of_other) {
    return static_cast<T>((of_green & is_green) | (of_other & static_cast<T>(~is_green)));
  };
  T center = static_cast<T>(at.center), corners = static_cast<T>(static_cast<Sum>(at.corners + 2) >> 2);
  return {choose(across, center), choose(center, green), choose(down, corners)};
}

// The same, mixed to gray by the weights of the colours, which add up to 1 << 14.
template <class T>
AVIDA_HD AVIDA_INLINE int demosaic_gray(const Neighbourhood<T>& at, bool is_green, unsigned own, unsigned other) {
  constexpr unsigned green = 9617;
  unsigned across = at.left + at.right, down = at.above + at.below, center = at.center, corners = at.corners;
  unsigned of_green = (across * own + down * other + 2 * center * green + (1 << 14)) >> 15;
  unsigned of_other = (4 * center * own + (across + down) * green + corners * other + (1 << 15)) >> 16;
  return static_cast<int>(is_green ? of_green : of_other);
}

}  // namespace avida::ops
