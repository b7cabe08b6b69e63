// Conversion of contiguous elements on the CPU, chosen by element type at run time.
#pragma once
#include "core/dtype.h"

namespace avida {

// Converts n elements; `out` and `in` do not overlap.
using ConvertRun = void (*)(void* out, const void* in, int64_t n);

// Rounds half away from zero, as device/convert.h's convert().
ConvertRun rounding_run(DType to, DType from);
// Drops the fraction, as device/convert.h's truncate().
ConvertRun truncating_run(DType to, DType from);

}  // namespace avida
