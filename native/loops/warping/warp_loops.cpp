#include "loops/warping/warp_loops.h"

#include "core/clones.h"
#include "core/vectors.h"

#include <hwy/highway.h>

namespace avida {
namespace {

template <int N>
AVIDA_INLINE bool is_inside(const RowPlaces& at, int i, const TileAxis* axes) {
  for (int d = 0; d < N; d++) {
    const float x = at[d][i] - axes[d].shift;
    if (!(x >= 0 && x <= axes[d].last)) return false;
  }
  return true;
}

// Most tiles lie inside: then nothing else has to be known of a pixel than its offset and fractions.
template <int N, bool linear>
AVIDA_INLINE bool locate_inside(Located& __restrict found, const RowPlaces& __restrict at, int n, const TileAxis* axes,
                                int last_offset) {
  TileAxis axis[N];
  for (int d = 0; d < N; d++) axis[d] = axes[d];
  int outside = 0;
  for (int i = 0; i < n; i++) {
    unsigned offset = 0;  // which may overflow where it is not used
    for (int d = 0; d < N; d++) {
      const float x = at[d][i] - axis[d].shift;
      float inside = x > 0 ? x : 0;  // as converting others to an integer is undefined
      inside = inside < axis[d].last ? inside : axis[d].last;
      outside |= !(inside == x);
      const int whole = static_cast<int>(inside);
      if constexpr (linear) found.part[d][i] = x - static_cast<float>(whole);
      offset += static_cast<unsigned>(whole) * axis[d].stride;
    }
    found.offset[i] = static_cast<int>(offset);
    outside |= static_cast<int>(offset) > last_offset;
  }
  return outside == 0;
}

// Nearest elements need no fractions.
template <int N, bool linear>
AVIDA_INLINE void locate(Located& __restrict found, const RowPlaces& __restrict at, int n, const TileAxis* axes,
                         int last_offset, bool fills) {
  found.n = n;
  found.all_inside = last_offset >= 0 && is_inside<N>(at, 0, axes) && is_inside<N>(at, n - 1, axes) &&
                     locate_inside<N, linear>(found, at, n, axes, last_offset);
  if (found.all_inside) return;
  int anywhere = 0;
  const int least = last_offset >= 0 ? Located::kInside : Located::kAtBorder;
  const int beyond = fills ? Located::kBeyond : Located::kAtBorder;
  TileAxis axis[N];
  for (int d = 0; d < N; d++) axis[d] = axes[d];
  for (int i = 0; i < n; i++) {
    int where = least;
    unsigned offset = 0;
    for (int d = 0; d < N; d++) {
      float x = at[d][i] - axis[d].shift;
      x = x > axis[d].low ? x : axis[d].low;
      x = x < axis[d].high ? x : axis[d].high;
      int whole = static_cast<int>(x);
      whole -= x < static_cast<float>(whole);
      whole = whole < axis[d].most ? whole : axis[d].most;
      found.index[d][i] = whole;
      if constexpr (linear) found.part[d][i] = x - static_cast<float>(whole);
      offset += static_cast<unsigned>(whole) * axis[d].stride;
      where |= ((whole < 0) | (whole >= axis[d].inner)) ? Located::kAtBorder : 0;
      where |= ((whole < axis[d].least) | (whole >= axis[d].size)) ? beyond : 0;
    }
    found.offset[i] = static_cast<int>(offset);
    where |= static_cast<int>(offset) > last_offset ? Located::kAtBorder : 0;
    found.where[i] = where;
    anywhere |= where;
  }
  found.all_inside = anywhere == 0;
}

}  // namespace

AVIDA_CLONES void locate_2d(Located& found, const RowPlaces& at, int n, const TileAxis* axes, int last_offset,
                            bool fills) {
  locate<2, true>(found, at, n, axes, last_offset, fills);
}
AVIDA_CLONES void locate_nearest_2d(Located& found, const RowPlaces& at, int n, const TileAxis* axes, int last_offset,
                                    bool fills) {
  locate<2, false>(found, at, n, axes, last_offset, fills);
}
AVIDA_CLONES void locate_3d(Located& found, const RowPlaces& at, int n, const TileAxis* axes, int last_offset,
                            bool fills) {
  locate<3, true>(found, at, n, axes, last_offset, fills);
}

// A sum has to wait for the one before it; those of four rows, in the lanes of a vector, wait together.
template <int N>
void sum_steps(Tile& tile, const Place<N> (&first)[Tile::kRows], const Place<N>& step) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::FixedTag<float, Tile::kRows> d;
  using Rows = hn::Vec<decltype(d)>;
  Rows place[N], by[N];
  for (int axis = 0; axis < N; axis++) {
    alignas(16) const float lanes[] = {first[0][axis], first[1][axis], first[2][axis], first[3][axis]};
    place[axis] = hn::Load(d, lanes);
    by[axis] = hn::Set(d, step[axis]);
  }
  for (int i = 0, n = tile.n; i < n; i += 4)
    for (int axis = 0; axis < N; axis++) {
      const Rows a = place[axis], b = hn::Add(a, by[axis]), c = hn::Add(b, by[axis]), e = hn::Add(c, by[axis]);
      place[axis] = hn::Add(e, by[axis]);
      const Rows left[] = {hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b)};
      const Rows right[] = {hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e)};
      for (int row = 0; row < 4; row += 2) {
        hn::Store(hn::ConcatLowerLower(d, right[row / 2], left[row / 2]), d, &tile.at[row][axis][i]);
        hn::Store(hn::ConcatUpperUpper(d, right[row / 2], left[row / 2]), d, &tile.at[row + 1][axis][i]);
      }
    }
}
template void sum_steps(Tile&, const Place<2> (&)[Tile::kRows], const Place<2>&);
template void sum_steps(Tile&, const Place<3> (&)[Tile::kRows], const Place<3>&);

}  // namespace avida
