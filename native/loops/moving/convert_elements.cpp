#include "loops/moving/convert_elements.h"

#include <algorithm>

#include "loops/moving/convert_run.h"
#include "loops/moving/launch_convert.h"

namespace avida {

void ElementConversion::run(const SampleView& out, const SampleView& in, int64_t begin, int64_t end,
                            Launches* launches) {
  if (launches) return launch_convert(*launches, out.data, out.dtype, in.data, in.dtype, out.elements());
  rounding_run(out.dtype, in.dtype)(out.as<char>() + begin * size_of(out.dtype),
                                    in.as<char>() + begin * size_of(in.dtype), std::min(end, out.elements()) - begin);
}

}  // namespace avida
