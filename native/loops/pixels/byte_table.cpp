#include "loops/pixels/byte_table.h"

#include "loops/pixels/vbmi.h"

#if defined(__x86_64__)
#ifndef __clang__  // GCC takes the "undefined" operand of its own intrinsics for a mistake
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

namespace avida {
namespace {

#if defined(__x86_64__)
// The table lies in four registers. Each permutation looks up in two of them; the highest bit decides between both.
AVIDA_VBMI int64_t look_up_vectors(uint8_t* out, const uint8_t* in, int64_t n, const uint8_t* table) {
  const __m512i first = _mm512_loadu_si512(table), second = _mm512_loadu_si512(table + 64),
                third = _mm512_loadu_si512(table + 128), fourth = _mm512_loadu_si512(table + 192);
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    __m512i at = _mm512_loadu_si512(in + i);
    __m512i low = _mm512_permutex2var_epi8(first, at, second), high = _mm512_permutex2var_epi8(third, at, fourth);
    _mm512_storeu_si512(out + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high));
  }
  return i;
}
#else
int64_t look_up_vectors(uint8_t*, const uint8_t*, int64_t, const uint8_t*) { return 0; }
#endif

}  // namespace

void look_up_bytes(uint8_t* out, const uint8_t* in, int64_t n, const uint8_t* table) {
  int64_t i = has_vbmi() ? look_up_vectors(out, in, n, table) : 0;
  for (; i < n; i++) out[i] = table[in[i]];
}

}  // namespace avida
