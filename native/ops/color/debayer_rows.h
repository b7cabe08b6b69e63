// Rows of a sensor with a Bayer filter made to colours or gray on the CPU, by the arithmetic of debayer.h.
#pragma once
#include <cstdint>

#include "ops/color/debayer.h"

namespace avida::ops {

// Three rows of a sensor, and what is known of the middle one.
template <class T>
struct SensorRows {
  const T *upper, *row, *lower;
  int width;
  bool blue;     // beside green it has blue, else red
  int green_at;  // the parity of the columns that are green
};

// All columns but the outermost, of which there are at least three.
void debayer_row(uint8_t* out, const SensorRows<uint8_t>& rows, Demosaic algorithm);
void debayer_row(uint16_t* out, const SensorRows<uint16_t>& rows, Demosaic algorithm);

}  // namespace avida::ops
