// Where users count pixels from.
#pragma once
#include <string>

#include "core/error.h"

namespace avida::ops {

// How far (0, 0) lies from the corner of the first pixel.
inline float origin_of(const std::string& name) {
  if (name != "corner" && name != "center")
    fail(ErrorKind::runtime, "expected \"corner\" or \"center\" as pixel_origin, got \"", name, '"');
  return name == "center" ? 0.5f : 0;
}

}  // namespace avida::ops
