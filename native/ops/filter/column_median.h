// Medians of bytes in large windows, in a time that does not depend on the window.
// Every column has a histogram that follows the window down, and the sum of those under the window follows it along.
#pragma once
#include <cstdint>

#include "loops/neighbours/stencil.h"

namespace avida {

// Whether histograms can count the elements of such a window.
bool column_median_fits(const Reach& reach);

// Rows [begin, end) of an image of bytes, which is continued beyond the border with its outermost elements.
void column_median(uint8_t* out, const uint8_t* in, const Space& space, const Reach& reach, int64_t begin, int64_t end);

}  // namespace avida
