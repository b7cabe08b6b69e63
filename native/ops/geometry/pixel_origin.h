// The argument pixel_origin: whether (0, 0) is the corner or the centre of the first pixel.
#pragma once
#include "arguments/choices.h"

namespace avida::ops {

enum class PixelOrigin { corner, center };
AVIDA_CHOICES(PixelOrigin, "corner", "center")

// How far (0, 0) lies from the corner of the first pixel.
inline float distance_of(PixelOrigin origin) { return origin == PixelOrigin::center ? 0.5f : 0; }

}  // namespace avida::ops
