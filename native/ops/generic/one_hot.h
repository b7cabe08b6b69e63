// The kernel of one_hot: class indices as vectors of which one entry is on. Read by NVRTC too: no std headers.
#pragma once
#include "device/convert.h"

namespace avida::ops {

// The class that a number names, or -1.
template <class In>
AVIDA_HD AVIDA_INLINE long class_of(In x, long classes) {
  if constexpr (TypeTraits<In>::is_float) {
    const auto number = static_cast<double>(typename ComputeType<In>::type(x));
    return number > -1 && number < static_cast<double>(classes) && classes > 0 ? static_cast<long>(number) : -1;
  } else {
    return static_cast<unsigned long>(x) < static_cast<unsigned long>(classes) ? static_cast<long>(x) : -1;
  }
}

// An item is an element of the output, as an unsigned type of its size. The output's axes are those before the
// classes, the classes, and `inner` others.
template <class In, class Bits>
struct OneHot {
  static constexpr const char* header = "ops/generic/one_hot.h";
  struct Params {
    Bits* out;
    const In* in;
    long classes, inner;
    Bits on, off;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long outer = i / params.inner / params.classes, at = i / params.inner % params.classes;
    const long found = class_of(params.in[outer * params.inner + i % params.inner], params.classes);
    params.out[i] = found == at ? params.on : params.off;
  }
};

}  // namespace avida::ops
