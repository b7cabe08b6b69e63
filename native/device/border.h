// Border handling: the element for an index outside of an axis.
#pragma once
#include "device/macros.h"

namespace avida {

enum class Border : int { fill, clamp, reflect, reflect_101, wrap };

// The index of the element for i, which may be outside of [0, n); -1 for the fill value.
template <class Int>
AVIDA_HD AVIDA_INLINE Int border_index(Border border, Int i, Int n) {
  if (i >= 0 && i < n) return i;
  switch (border) {
    case Border::fill:
      return -1;
    case Border::clamp:
      return i < 0 ? 0 : n - 1;
    case Border::wrap:
      return (i % n + n) % n;
    default: {
      Int twice = border == Border::reflect ? 2 * n : 2 * n - 2;
      if (twice == 0) return 0;
      i = (i % twice + twice) % twice;
      return i < n ? i : (border == Border::reflect ? twice - 1 : twice) - i;
    }
  }
}

// Policies for a window that exceeds the sample: a border mode, an error, or trimming.
enum class OutOfBounds : int { constant, edge, reflect_1001, reflect_101, wrap, error, trim };

// The source index for index i of an axis; -1 for the fill value.
AVIDA_HD AVIDA_INLINE long source_index(long i, long extent, OutOfBounds policy) {
  return border_index(policy <= OutOfBounds::wrap ? static_cast<Border>(policy) : Border::fill, i, extent);
}

}  // namespace avida
