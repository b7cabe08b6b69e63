#include "loops/warping/warp_loops.h"

#include <cmath>
#include <cstring>

#include "core/clones.h"

namespace avida {
namespace {

// Element i of steps from `place` on.
AVIDA_INLINE float step_at(float place, float step, int i) { return place + static_cast<float>(i) * step; }

// Nearest elements need no fractions.
template <int N, bool linear>
AVIDA_INLINE void locate(Located& __restrict found, const Tile& __restrict tile, const TileAxis* axes, int last_offset,
                         bool fills) {
  const int beyond = fills ? Located::kBeyond : Located::kAtBorder;
  int anywhere = 0;
  TileAxis axis[N];
  for (int d = 0; d < N; d++) axis[d] = axes[d];
  for (int i = 0; i < tile.n; i++) {
    int where = 0;
    unsigned offset = 0;  // which may overflow where it is not used
    for (int d = 0; d < N; d++) {
      float x = tile.at[d][i] - axis[d].shift;
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
  found.n = tile.n;
  found.all_inside = anywhere == 0;
}

}  // namespace

AVIDA_CLONES void locate_2d(Located& found, const Tile& tile, const TileAxis* axes, int last_offset, bool fills) {
  locate<2, true>(found, tile, axes, last_offset, fills);
}
AVIDA_CLONES void locate_nearest_2d(Located& found, const Tile& tile, const TileAxis* axes, int last_offset,
                                    bool fills) {
  locate<2, false>(found, tile, axes, last_offset, fills);
}
AVIDA_CLONES void locate_3d(Located& found, const Tile& tile, const TileAxis* axes, int last_offset, bool fills) {
  locate<3, true>(found, tile, axes, last_offset, fills);
}

// Numbers with the same exponent are equally far apart, so that sums are rounded alike from one to the next: as long as
// the exponent stays, steps have one length, and need not be taken one after the other.
AVIDA_CLONES void sum_steps(float* at, float place, float step, int n) {
  for (int i = 0; i < n;) {
    at[i++] = place;
    const float next = place + step, change = next - place;
    place = next;
    if ((next + step) - next == change) {
      const float size = std::fabs(next), power = bits_float(float_bits(next) & 0x7f800000u);
      const float room = (change < 0) == (next < 0) ? 2 * power - size : size - power;
      const float steps = room / std::fabs(change) - 2;  // surely within the room
      const int more = !(steps < static_cast<float>(n - i)) ? n - i : steps > 0 ? static_cast<int>(steps) : 0;
      const int whole = (more + Tile::kVector - 1) & -Tile::kVector;  // no loop over single ones
      for (int k = 0; k < whole; k++) at[i + k] = step_at(next, change, k);
      if (more > 0) place = step_at(next, change, more - 1) + step;
      i += more;
    }
  }
}

}  // namespace avida
