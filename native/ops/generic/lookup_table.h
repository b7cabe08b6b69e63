// Numbers looked up in a table. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/convert.h"
#include "kernel/words.h"

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

// Bytes, some at a time: the first may begin before the array, so that what is stored at once lies where words do.
template <class Out>
struct LookUpBytes {
  static constexpr const char* header = "ops/generic/lookup_table.h";
  static constexpr int kPiece = sizeof(Out) == 1 ? 16 : sizeof(Out) == 2 ? 8 : 4;
  struct Params {
    Out* out;
    const unsigned char* in;
    const Out* table;
    long elements;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const long first = i * kPiece - lead_of<sizeof(Out), 16, kPiece>(params.out);
    if (first >= 0 && first + kPiece <= params.elements) {
      const auto keys = load_elements<kPiece>(params.in + first);
      Elements<Out, kPiece> found;
      for (int k = 0; k < kPiece; k++) found.at[k] = params.table[keys.at[k]];
      store_elements(params.out + first, found);
      return;
    }
    const long end = first + kPiece < params.elements ? first + kPiece : params.elements;
    for (long k = first > 0 ? first : 0; k < end; k++) params.out[k] = params.table[params.in[k]];
  }
};

}  // namespace avida::ops
