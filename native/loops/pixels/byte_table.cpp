#include "loops/pixels/byte_table.h"

#include <algorithm>

#include "core/rows.h"
#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "loops/pixels/byte_table.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {

// Instruction sets whose tables are shorter than 64 bytes are no faster than one look-up at a time.
void look_up(uint8_t* out, const uint8_t* in, int64_t n, const uint8_t* table) {
  int64_t i = 0;
#if HWY_TARGET == HWY_AVX3_DL
  // The table lies in four registers. Each permutation looks up in two of them; the highest bit decides between both.
  const __m512i first = _mm512_loadu_si512(table), second = _mm512_loadu_si512(table + 64),
                third = _mm512_loadu_si512(table + 128), fourth = _mm512_loadu_si512(table + 192);
  for (; i + 64 <= n; i += 64) {
    const __m512i at = _mm512_loadu_si512(in + i);
    const __m512i low = _mm512_permutex2var_epi8(first, at, second), high = _mm512_permutex2var_epi8(third, at, fourth);
    _mm512_storeu_si512(out + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high));
  }
#elif HWY_TARGET == HWY_NEON && HWY_ARCH_ARM_A64
  // The same with tables of 64 bytes: what lies outside of one keeps what the others found.
  const uint8x16x4_t tables[4] = {vld1q_u8_x4(table), vld1q_u8_x4(table + 64), vld1q_u8_x4(table + 128),
                                  vld1q_u8_x4(table + 192)};
  for (; i + 16 <= n; i += 16) {
    uint8x16_t at = vld1q_u8(in + i), found = vqtbl4q_u8(tables[0], at);
    for (int k = 1; k < 4; k++) found = vqtbx4q_u8(found, tables[k], at = vsubq_u8(at, vdupq_n_u8(64)));
    vst1q_u8(out + i, found);
  }
#endif
  for (; i < n; i++) out[i] = table[in[i]];
}

bool looks_up_vectors() { return HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_NEON; }

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida {

HWY_EXPORT(look_up);
HWY_EXPORT(looks_up_vectors);

void look_up_bytes(uint8_t* out, const uint8_t* in, int64_t n, const uint8_t* table) {
  if (!past_cache()) return HWY_DYNAMIC_DISPATCH(look_up)(out, in, n, table);
  uint8_t made[kPastCacheBlock];
  for (int64_t i = 0; i < n; i += kPastCacheBlock) {
    const int64_t count = std::min(kPastCacheBlock, n - i);
    HWY_DYNAMIC_DISPATCH(look_up)(made, in + i, count, table);
    store_row(out + i, made, count);
  }
}

bool looks_up_fast() { return HWY_DYNAMIC_DISPATCH(looks_up_vectors)(); }

}  // namespace avida
#endif
