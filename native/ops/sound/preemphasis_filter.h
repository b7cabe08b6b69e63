// The kernel of preemphasis_filter. Read by NVRTC too: no std headers.
#pragma once
#include "device/element.h"

namespace avida::ops {

enum class BeforeFirst : int { zero, clamp, reflect };

// An item is an element of the output, computed in float32. To and From are types, or both AnyElement.
template <class To, class From>
struct Preemphasis {
  static constexpr const char* header = "ops/sound/preemphasis_filter.h";
  struct Params {
    void* out;
    const void* in;
    int to, from;
    BeforeFirst border;
    float coefficient;
    long length;
  };

  // Where the element before element i is; -1 if there is none.
  AVIDA_HD AVIDA_INLINE static long previous(BeforeFirst border, long i, long length) {
    if (i > 0) return i - 1;
    if (border == BeforeFirst::clamp) return 0;
    return border == BeforeFirst::reflect && length > 1 ? 1 : -1;
  }
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long before = previous(params.border, i, params.length);
    const auto x = load_element<float, From>(params.in, params.from, i);
    const auto last = before < 0 ? 0.0f : load_element<float, From>(params.in, params.from, before);
    store_element<To>(params.out, params.to, i, x - params.coefficient * last);
  }
};

}  // namespace avida::ops
