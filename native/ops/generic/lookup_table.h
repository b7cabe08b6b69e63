// Numbers looked up in a table. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/convert.h"
#include "kernel/words.h"

namespace avida::ops {

// An item is an element.
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
    const auto key = static_cast<unsigned long>(params.in[i]);  // negative numbers become huge ones
    params.out[i] = key < params.size ? params.table[key] : params.otherwise;
  }
};

// Bytes, a piece at a time. The table has an entry for each of them.
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
    Out* const out = params.out;
    const unsigned char* const in = params.in;
    const Out* const table = params.table;
    const long first = i * kPiece - lead_of<sizeof(Out), 16, kPiece>(out);
    auto whole = [&] {
      const auto keys = load_elements<kPiece>(in + first);
      Elements<Out, kPiece> found;
      for (int k = 0; k < kPiece; k++) found.at[k] = table[keys.at[k]];
      store_elements(out + first, found);
    };
    make_piece<kPiece>(first, params.elements, whole, [&](long k) { out[k] = table[in[k]]; });
  }
};

}  // namespace avida::ops
