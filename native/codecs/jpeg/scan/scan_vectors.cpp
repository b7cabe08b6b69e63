#include "codecs/jpeg/scan/scan_vectors.h"

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/jpeg/scan/scan_vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace avida::codecs::HWY_NAMESPACE {

bool read_mcus(ScanBytes& bytes, ScanState& state, const BlockSlot* slots, int slot_count, int first, int count) {
  McuBlocks blocks(bytes, state.predicted, slots, slot_count, first, count);
  BitReader reader = state.reader;
  const bool valid = read_blocks(reader, blocks);
  state.reader = reader;
  return valid;
}

bool record_mcus(const ScanBytes& bytes, ScanState& state, const BlockSlot* slots, int slot_count, uint32_t end,
                 int64_t most, Recording& recording) {
  RecordedBlocks blocks(bytes, state.predicted, slots, slot_count, end, most, recording);
  BitReader reader = state.reader;
  const bool valid = read_blocks(reader, blocks);
  state.reader = reader;
  return valid;
}

// Places the lowest bits where the mask has ones.
HWY_INLINE uint64_t deposit(uint64_t bits, uint64_t mask) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
  return __builtin_ia32_pdep_di(bits, mask);
#else
  uint64_t made = 0;
  for (; mask && bits; mask &= mask - 1, bits >>= 1) made |= bits & 1 ? mask & (~mask + 1) : 0;
  return made;
#endif
}

// `again`: one more bit.
template <bool again>
HWY_NOINLINE bool read_band_blocks(const ScanBytes& bytes, BandState& state, const Band& band, const BandLookup& ac,
                                   const CoefficientPlane& plane, int columns, int rows) {
  const uint8_t* const safe = bytes.safe_end();
  BandState local = state;
  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++) {
      const int64_t i = int64_t{y} * plane.columns + x;
      if (HWY_UNLIKELY(local.reader.at > safe)) return false;
      if (!(again ? read_next_bits(local, band, ac, *plane.layout, plane.block(i), plane.present[i], deposit)
                  : read_first_bits(local, band, ac, *plane.layout, plane.block(i), plane.present[i])))
        return false;
    }
  state = local;
  return true;
}

bool read_band(const ScanBytes& bytes, BandState& state, const Band& band, const BandLookup& ac,
               const CoefficientPlane& plane, int columns, int rows) {
  return (band.high ? read_band_blocks<true> : read_band_blocks<false>)(bytes, state, band, ac, plane, columns, rows);
}

}  // namespace avida::codecs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida::codecs {

HWY_EXPORT(read_mcus);
HWY_EXPORT(record_mcus);
HWY_EXPORT(read_band);

bool read_mcus(ScanBytes& bytes, ScanState& state, const BlockSlot* slots, int slot_count, int first, int count) {
  return HWY_DYNAMIC_DISPATCH(read_mcus)(bytes, state, slots, slot_count, first, count);
}
bool record_mcus(const ScanBytes& bytes, ScanState& state, const BlockSlot* slots, int slot_count, uint32_t end,
                 int64_t most, Recording& recording) {
  return HWY_DYNAMIC_DISPATCH(record_mcus)(bytes, state, slots, slot_count, end, most, recording);
}
bool read_band(const ScanBytes& bytes, BandState& state, const Band& band, const BandLookup& ac,
               const CoefficientPlane& plane, int columns, int rows) {
  return HWY_DYNAMIC_DISPATCH(read_band)(bytes, state, band, ac, plane, columns, rows);
}

}  // namespace avida::codecs
#endif
