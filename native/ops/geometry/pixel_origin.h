// The argument pixel_origin: whether (0, 0) is the corner or the centre of the first pixel.
#pragma once
#include <string>

#include "core/error.h"

namespace avida::ops {

// How far (0, 0) lies from the corner of the first pixel.
inline float origin_of(const std::string& name) {
  if (name != "corner" && name != "center")
    refuse("expected \"corner\" or \"center\" as pixel_origin, got \"", name, '"');
  return name == "center" ? 0.5f : 0;
}

}  // namespace avida::ops
