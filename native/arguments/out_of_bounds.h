// The names of what happens where a window exceeds its sample, for operators and readers.
#pragma once
#include "arguments/choices.h"
#include "device/border.h"

namespace avida {

AVIDA_CHOICES_WITH(OutOfBounds, kAnyCase, {"error", OutOfBounds::error}, {"pad", OutOfBounds::constant},
                   {"constant", OutOfBounds::constant}, {"edge", OutOfBounds::edge}, {"clamp", OutOfBounds::edge},
                   {"reflect", OutOfBounds::reflect_1001}, {"reflect_1001", OutOfBounds::reflect_1001},
                   {"reflect_101", OutOfBounds::reflect_101}, {"wrap", OutOfBounds::wrap},
                   {"trim_to_shape", OutOfBounds::trim})

}  // namespace avida
