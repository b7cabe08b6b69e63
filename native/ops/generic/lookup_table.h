// The kernels of lookup_table: integers looked up in a table. Read by NVRTC too: no std headers.
#pragma once
#include "device/convert.h"
#include "device/words.h"

namespace avida::ops {

// An item is an element, as an unsigned type of its size.
template <class In, class Bits>
struct LookUp {
  static constexpr const char* header = "ops/generic/lookup_table.h";
  struct Params {
    Bits* out;
    const In* in;
    const Bits* table;
    unsigned long size;
    Bits otherwise;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    params.out[i] = look_up(params.in[i], params.table, params.size, params.otherwise);
  }
  AVIDA_HD AVIDA_INLINE static Bits look_up(In x, const Bits* table, unsigned long size, Bits otherwise) {
    const auto key = static_cast<unsigned long>(x);  // negative numbers become huge ones
    return key < size ? table[key] : otherwise;
  }
};

// Bytes, a piece at a time. The table has an entry for each of them.
template <class Bits>
struct LookUpBytes {
  static constexpr const char* header = "ops/generic/lookup_table.h";
  static constexpr int kPiece = sizeof(Bits) == 1 ? 16 : sizeof(Bits) == 2 ? 8 : 4;
  struct Params {
    Bits* out;
    const unsigned char* in;
    const Bits* table;
    long elements;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    Bits* const out = params.out;
    const unsigned char* const in = params.in;
    const Bits* const table = params.table;
    const long first = i * kPiece - lead_of<sizeof(Bits), 16, kPiece>(out);
    auto whole = [&] {
      const auto keys = load_elements<kPiece>(in + first);
      Elements<Bits, kPiece> found;
      for (int k = 0; k < kPiece; k++) found.at[k] = table[keys.at[k]];
      store_elements(out + first, found);
    };
    make_piece<kPiece>(first, params.elements, whole, [&](long k) { out[k] = table[in[k]]; });
  }
};

}  // namespace avida::ops
