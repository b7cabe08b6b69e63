#include "loops/pixels/interleave.h"

#include "core/clones.h"
#include "device/macros.h"
#include "loops/pixels/vbmi.h"

#if defined(__x86_64__)
#ifndef __clang__  // GCC takes the "undefined" operand of its own intrinsics for a mistake
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

namespace avida {
namespace {

template <class T>
AVIDA_INLINE void interleave_each(T* __restrict out, const T* first, const T* second, const T* third, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    out[3 * i] = first[i];
    out[3 * i + 1] = second[i];
    out[3 * i + 2] = third[i];
  }
}
AVIDA_CLONES void interleave_bytes(uint8_t* out, const uint8_t* first, const uint8_t* second, const uint8_t* third,
                                   int64_t n) {
  interleave_each(out, first, second, third, n);
}
AVIDA_CLONES void interleave_words(uint16_t* out, const uint16_t* first, const uint16_t* second, const uint16_t* third,
                                   int64_t n) {
  interleave_each(out, first, second, third, n);
}

#if defined(__x86_64__)
// Where each of the 3 x 64 bytes of 64 pixels comes from: of the first two planes at once, then of the third.
struct Places {
  alignas(64) uint8_t of_two[3][64];
  alignas(64) uint8_t of_third[3][64];
  uint64_t is_third[3];
};
constexpr Places kPlaces = [] {
  Places places{};
  for (int to = 0; to < 3 * 64; to++) {
    int part = to / 64, i = to % 64, plane = to % 3, pixel = to / 3;
    places.of_two[part][i] = static_cast<uint8_t>(plane == 1 ? 64 + pixel : pixel);
    places.of_third[part][i] = static_cast<uint8_t>(pixel);
    if (plane == 2) places.is_third[part] |= uint64_t{1} << i;
  }
  return places;
}();

// As many pixels as fill vectors; says how many.
AVIDA_VBMI int64_t interleave_vectors(uint8_t* out, const uint8_t* first, const uint8_t* second, const uint8_t* third,
                                      int64_t n) {
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    __m512i a = _mm512_loadu_si512(first + i), b = _mm512_loadu_si512(second + i), c = _mm512_loadu_si512(third + i);
    for (int part = 0; part < 3; part++) {
      __m512i made = _mm512_permutex2var_epi8(a, _mm512_load_si512(kPlaces.of_two[part]), b);
      made = _mm512_mask_permutexvar_epi8(made, kPlaces.is_third[part], _mm512_load_si512(kPlaces.of_third[part]), c);
      _mm512_storeu_si512(out + 3 * i + 64 * part, made);
    }
  }
  return i;
}
#else
int64_t interleave_vectors(uint8_t*, const uint8_t*, const uint8_t*, const uint8_t*, int64_t) { return 0; }
#endif

}  // namespace

void interleave(uint8_t* out, const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t n) {
  int64_t done = has_vbmi() ? interleave_vectors(out, first, second, third, n) : 0;
  interleave_bytes(out + 3 * done, first + done, second + done, third + done, n - done);
}

void interleave(uint16_t* out, const uint16_t* first, const uint16_t* second, const uint16_t* third, int64_t n) {
  interleave_words(out, first, second, third, n);
}

}  // namespace avida
