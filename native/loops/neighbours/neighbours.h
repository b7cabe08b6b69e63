// Grids of elements, windows around each element, and loops over the neighbours in a window, in bodies.
#pragma once
#include "device/border.h"
#include "device/convert.h"
#include "loops/items/kernel_inline.h"

namespace avida {

// Which element of which point.
struct GridPlace {
  long part;
  long at[3];  // along depth, height, width
  long inner;
};

// Independent parts, each of depth x height x width points, which are short runs of elements (the channels, where they
// are last).
struct Grid {
  long size[3] = {1, 1, 1};
  long inner = 1;

  AVIDA_HD AVIDA_INLINE GridPlace place_of(long item) const {
    GridPlace place{};
    place.inner = item % inner;
    item /= inner;
    for (int d = 2; d >= 0; d--) {
      place.at[d] = item % size[d];
      item /= size[d];
    }
    place.part = item;
    return place;
  }
  AVIDA_HD AVIDA_INLINE long item_at(const GridPlace& place) const {
    long point = ((place.part * size[0] + place.at[0]) * size[1] + place.at[1]) * size[2] + place.at[2];
    return point * inner + place.inner;
  }
};

// The window of an element reaches from `before` points before it over `size` points.
struct NeighbourWindow {
  long before[3] = {0, 0, 0};
  long size[3] = {1, 1, 1};
  Border border = Border::fill;
};

// Calls fn(index of the neighbour's element, or -1 for what is filled) for all neighbours, in the order of memory.
template <class Fn>
AVIDA_HD AVIDA_INLINE void each_neighbour(const Grid& grid, const NeighbourWindow& window, const GridPlace& centre,
                                          Fn&& fn) {
  GridPlace from = centre;
  for (long z = 0; z < window.size[0]; z++) {
    from.at[0] = border_index(window.border, centre.at[0] - window.before[0] + z, grid.size[0]);
    for (long y = 0; y < window.size[1]; y++) {
      from.at[1] = border_index(window.border, centre.at[1] - window.before[1] + y, grid.size[1]);
      for (long x = 0; x < window.size[2]; x++) {
        from.at[2] = border_index(window.border, centre.at[2] - window.before[2] + x, grid.size[2]);
        bool outside = from.at[0] < 0 || from.at[1] < 0 || from.at[2] < 0;
        fn(outside ? -1 : grid.item_at(from));
      }
    }
  }
}

}  // namespace avida
