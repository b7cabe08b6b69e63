// The inner loops of warps on the CPU, over a part of a row: compiled for several instruction sets, with equal bits.
#pragma once
#include "loops/warping/warp.h"

namespace avida {

// The elements before each position of a tile, and the fractions of the way to the next ones.
struct Located {
  // In `where`: all elements that are needed are there; perhaps not all; none.
  static constexpr int kInside = 0, kAtBorder = 1, kBeyond = 3;
  int n;
  bool all_inside;  // then `index` and `where` need not be set
  alignas(64) int index[3][kTileSize];
  alignas(64) float part[3][kTileSize];
  alignas(64) int offset[kTileSize];  // in bytes, of those inside
  alignas(64) int where[kTileSize];

  AVIDA_INLINE bool is_inside(int i) const { return all_inside || where[i] == kInside; }

  // inside(begin, end), beyond(begin, end) and at_border(i), in the order of the pixels.
  template <class Inside, class AtBorder, class Beyond>
  AVIDA_INLINE void runs(const Inside& inside, const AtBorder& at_border, const Beyond& beyond) const {
    if (all_inside) return inside(0, n);
    for (int begin = 0, end; begin < n; begin = end) {
      const int kind = where[begin];
      for (end = begin + 1; end < n && where[end] == kind;) end++;
      if (kind == kInside)
        inside(begin, end);
      else if (kind == kBeyond)
        beyond(begin, end);
      else
        for (int i = begin; i < end; i++) at_border(i);
    }
  }
};

void locate_2d(Located& found, const RowPlaces& at, int n, const TileAxis* axes, int last_offset, bool fills);
// The same without fractions.
void locate_nearest_2d(Located& found, const RowPlaces& at, int n, const TileAxis* axes, int last_offset, bool fills);
void locate_3d(Located& found, const RowPlaces& at, int n, const TileAxis* axes, int last_offset, bool fills);

// Linear interpolation of images of 1, 3 or 4 bytes per pixel; false for others.
bool look_up_bytes(const Texture<uint8_t, 2>& in, int64_t channels, const Located& found, uint8_t* out);
// The same of the most common types, to floats.
template <class T>
bool look_up_floats(const Texture<T, 2>& in, int64_t channels, const Located& found, float* out);

}  // namespace avida
