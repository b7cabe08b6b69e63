// Conversion of contiguous elements on a GPU; the counterpart of convert_run.h.
#pragma once
#include "core/dtype.h"

namespace avida {

class Launches;

// Rounds half away from zero.
void launch_convert(Launches& launches, void* out, DType to, const void* in, DType from, int64_t n);

}  // namespace avida
