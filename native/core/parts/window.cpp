#include "core/parts/window.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/error.h"

namespace avida {

void place_window(Window& window, const Shape& in, OutOfBounds policy) {
  for (int d = 0; d < in.size(); d++) {
    int64_t &start = window.start[d], &size = window.size[d];
    int64_t end;
    if (size < 0) refuse("the window's extent along axis ", d, " is negative: ", size);
    if (__builtin_add_overflow(start, size, &end))
      refuse("the window from ", start, " along axis ", d, " is too large: its extent is ", size);
    bool inside = start >= 0 && start <= in[d] && end <= in[d];
    if (inside) continue;
    if (policy == OutOfBounds::error)
      refuse("the window from ", start, " to ", end, " along axis ", d, " reaches beyond the sample of shape ", in,
             "; set out_of_bounds_policy to pad, repeat or trim");
    if (policy == OutOfBounds::trim) {
      start = std::clamp<int64_t>(start, 0, in[d]);
      size = std::clamp<int64_t>(end, start, in[d]) - start;
    } else if (in[d] == 0 && size > 0 && policy != OutOfBounds::constant) {
      refuse("cannot extend axis ", d, " of a sample of shape ", in, ": it has no elements to repeat");
    }
  }
}

}  // namespace avida
