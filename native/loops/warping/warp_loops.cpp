#include "loops/warping/warp_loops.h"

#include <cmath>
#include <cstring>

#include "core/clones.h"

namespace avida {
namespace {

AVIDA_CLONES void multiply_steps(float* at, float place, float step, int n) {
  for (int i = 0; i < n; i++) at[i] = place + static_cast<float>(i) * step;
}

template <int N>
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
      found.part[d][i] = x - static_cast<float>(whole);
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
  locate<2>(found, tile, axes, last_offset, fills);
}
AVIDA_CLONES void locate_3d(Located& found, const Tile& tile, const TileAxis* axes, int last_offset, bool fills) {
  locate<3>(found, tile, axes, last_offset, fills);
}

// Numbers with the same exponent are equally far apart, so that sums are rounded alike from one to the next: as long as
// the exponent stays, steps have one length, and need not be taken one after the other.
void sum_steps(float* at, float place, float step, int n) {
  for (int i = 0; i < n;) {
    at[i++] = place;
    const float next = place + step, change = next - place;
    if ((next + step) - next == change) {
      const float size = std::fabs(next), power = bits_float(float_bits(next) & 0x7f800000u);
      const float room = (change < 0) == (next < 0) ? 2 * power - size : size - power;
      const float steps = room / std::fabs(change) - 2;  // surely within the room
      const int more = !(steps < static_cast<float>(n - i)) ? n - i : steps > 0 ? static_cast<int>(steps) : 0;
      multiply_steps(at + i, next, change, more);
      i += more;
    }
    place = at[i - 1] + step;
  }
}

}  // namespace avida
