// Numbers looked up in a table. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/convert.h"

namespace avida::ops {

// An item is an element. The table has an entry for every 8-bit number at least, so that bytes need no check.
template <class In, class Out>
struct LookUp {
  static constexpr const char* header = "ops/generic/lookup_table.h";
  struct Params {
    Out* out;
    const In* in;
    const Out* table;
    unsigned long size;
    Out otherwise;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    if constexpr (sizeof(In) == 1 && !TypeTraits<In>::is_signed) {
      params.out[i] = params.table[params.in[i]];
    } else {
      const auto key = static_cast<unsigned long>(params.in[i]);  // negative numbers become huge ones
      params.out[i] = key < params.size ? params.table[key] : params.otherwise;
    }
  }
};

}  // namespace avida::ops
