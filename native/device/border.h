// What lies beyond the borders of an axis.
#pragma once
#include "kernel/macros.h"

namespace avida {

enum class Border : int { fill, clamp, reflect, reflect_101, wrap };

// The index that stands for i, which may be outside of [0, n); -1: nothing, fill.
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

}  // namespace avida
