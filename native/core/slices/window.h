// A window of a sample, which may exceed it.
#pragma once
#include "core/shape.h"
#include "device/border.h"

namespace avida {

struct Window {
  Shape start, size;  // in the sample's coordinates
};

// Checks the window against the sample's shape, or clips it to the sample.
void place_window(Window& window, const Shape& in, OutOfBounds policy);

}  // namespace avida
