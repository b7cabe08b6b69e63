// Colours of a sensor that sees one colour per pixel: red and blue in every other row and column, green between them.
// The missing ones come from the neighbours.
#pragma once
#include "kernel/convert.h"

namespace avida::ops {

enum class Demosaic { bilinear, edge_aware, gray };

// A pixel and its neighbours.
template <class T>
struct Neighbourhood {
  int center, left, right, above, below, corners;  // the sum of the four corners
  AVIDA_HD AVIDA_INLINE Neighbourhood(const T* upper, const T* row, const T* lower, long x)
      : center(row[x]),
        left(row[x - 1]),
        right(row[x + 1]),
        above(upper[x]),
        below(lower[x]),
        corners(upper[x - 1] + upper[x + 1] + lower[x - 1] + lower[x + 1]) {}
};

// `own` is the colour that this row has beside green: red or blue; `other` is the third one.
struct Colors {
  int own, green, other;
};

// Whether the sensor's pixel is green makes the difference; both ways are computed, since a choice between results
// vectorises and a branch does not.
template <bool edge_aware, class T>
AVIDA_HD AVIDA_INLINE Colors demosaic(const Neighbourhood<T>& at, bool is_green) {
  int across = (at.left + at.right + 1) >> 1, down = (at.above + at.below + 1) >> 1;
  int green = (at.left + at.right + at.above + at.below + 2) >> 2;
  if constexpr (edge_aware) {
    int change_across = at.left - at.right, change_down = at.above - at.below;
    change_across = change_across < 0 ? -change_across : change_across;
    change_down = change_down < 0 ? -change_down : change_down;
    green = change_across > change_down ? down : across;
  }
  return {is_green ? across : at.center, is_green ? at.center : green, is_green ? down : (at.corners + 2) >> 2};
}

// The same, mixed to gray by the weights of the colours, which add up to 1 << 14.
template <class T>
AVIDA_HD AVIDA_INLINE int demosaic_gray(const Neighbourhood<T>& at, bool is_green, unsigned own, unsigned other) {
  constexpr unsigned green = 9617;
  unsigned across = at.left + at.right, down = at.above + at.below;
  unsigned of_green = (across * own + down * other + 2 * at.center * green + (1 << 14)) >> 15;
  unsigned of_other = (4 * at.center * own + (across + down) * green + at.corners * other + (1 << 15)) >> 16;
  return static_cast<int>(is_green ? of_green : of_other);
}

}  // namespace avida::ops
