// Means of windows of bytes on the CPU, whatever their size: sums of columns are carried from row to row.
#pragma once
#include "loops/neighbours/space.h"

namespace avida {

// The weight of each element has `bits` bits of fraction.
struct BoxMean {
  int64_t height_radius, width_radius;
  int weight, bits;
};

// Sums have to fit 15 bits.
constexpr int64_t kMostBoxElements = 128;

// Rows [begin, end) of all. What lies beyond the border is reflected, without the outermost elements.
void box_means(uint8_t* out, const uint8_t* in, const Space& space, const BoxMean& box, int64_t begin, int64_t end);

}  // namespace avida
