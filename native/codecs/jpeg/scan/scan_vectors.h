// The loops over the Huffman codes of a JPEG scan, compiled for several instruction sets.
#pragma once
#include <cstdint>

#include "codecs/jpeg/scan/read_blocks.h"

namespace avida::codecs {

// Reads `count` MCUs from `first` on. Returns false for codes that the file cannot have.
bool read_mcus(ScanBytes& bytes, ScanState& state, const BlockSlot* slots, int slot_count, int first, int count);

// Reads MCUs into a recording, after those that it has: at most `most`, as long as they begin before `end` and there is
// room. Returns false for codes that the file cannot have; the MCUs before are recorded.
bool record_mcus(const ScanBytes& bytes, ScanState& state, const BlockSlot* slots, int slot_count, uint32_t end,
                 int64_t most, Recording& recording);

// Reads a scan of one component of a progressive file, of which all data is in the buffer: the blocks of `rows` rows
// and `columns` columns. Returns false for codes that an ordinary file does not have.
bool read_band(const ScanBytes& bytes, BandState& state, const Band& band, const BandLookup& ac,
               const CoefficientPlane& plane, int columns, int rows);

}  // namespace avida::codecs
