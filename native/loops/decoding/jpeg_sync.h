// GPU body that finds where the codes of a JPEG scan begin: self-synchronising parallel decoding. Read by NVRTC too.
//
// Each thread decodes its own part of the bits, from a guessed state; then those whose predecessor ended in another
// state decode again, until nothing changes. Decoders that begin anywhere soon synchronise, so few rounds are needed.
#pragma once
#include "loops/decoding/jpeg_scan.h"

namespace avida {

// The codes of a file, in shared memory, for a decoder that needs no numbers: an entry has the symbol that the bits
// begin with (its upper half), and all symbols that fit into them.
struct JpegSkips {
  static constexpr int kLook = 10;  // bits that are looked up at once
  struct Entry {
    static constexpr unsigned kEnds = 1 << 11;  // an end of block is the last of them
    unsigned packed;
    AVIDA_HD AVIDA_INLINE JpegSymbol first() const { return {packed >> 16}; }
    AVIDA_HD AVIDA_INLINE unsigned bits() const { return packed & 31; }
    AVIDA_HD AVIDA_INLINE unsigned further() const { return packed >> 5 & 63; }  // before the end of block
    AVIDA_HD AVIDA_INLINE bool ends() const { return packed & kEnds; }
  };

  unsigned entries[4][1 << kLook];
  JpegScan scan;

  // To be called by all threads of a block: first for the symbols, after they have copied the scan, then for all.
  AVIDA_HD AVIDA_INLINE void prepare_first(int thread) {
    AVIDA_DO_NOT_UNROLL
    for (int i = thread; i < 4 << kLook; i += JpegSegment::kThreads) {
      const int code = i >> kLook, begin = i & ((1 << kLook) - 1);
      entries[code][begin] =
          JpegSymbol::find(scan.codes[code], begin << (16 - kLook), 1, kLook, code >= 2, JpegSymbol::kLonger).packed
          << 16;
    }
  }
  AVIDA_HD AVIDA_INLINE void prepare_all(int thread) {
    AVIDA_DO_NOT_UNROLL
    for (int i = thread; i < 4 << kLook; i += JpegSegment::kThreads) {
      const int code = i >> kLook;
      const unsigned begin = static_cast<unsigned>(i) & ((1 << kLook) - 1);
      unsigned bits = 0, further = 0, ends = 0;
      do {  // after a DC coefficient, another code is used
        const JpegSymbol next = Entry{entries[code][begin << bits & ((1 << kLook) - 1)]}.first();
        const bool end = code >= 2 && next.further() == JpegSymbol::kEndOfBlock;
        if (!next.further() || bits + next.bits() > kLook || (!end && further + next.further() > 63)) break;
        bits += next.bits();
        if (end)
          ends = Entry::kEnds;
        else
          further += next.further();
      } while (code >= 2 && !ends);
      entries[code][begin] |= bits | further << 5 | ends;
    }
  }
};

// An item is a segment. `again`: once more, for segments whose predecessor ended in another state than they began with.
template <bool again>
struct JpegSync {
  static constexpr const char* header = "loops/decoding/jpeg_sync.h";
  static constexpr bool kUsual = true;
  static constexpr int kThreads = JpegSegment::kThreads, kPhases = 8, kRepeated = 4;
  using Params = JpegWork;

  struct Shared {
    JpegSkips skips;
    unsigned begin[kThreads], end[kThreads];  // of the parts, from those of the lead on; each a JpegState
    JpegSums blocks;                          // that end in a part
    unsigned start;                           // the state in which the segment begins
    bool idle;
    unsigned short list[kThreads];  // a ring of parts to decode again
    unsigned first_listed, next_listed, listed;
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static bool run(const Params& params, Shared& shared, long item, int thread) {
    const JpegSegment& segment = params.segments[item];
    if constexpr (phase == 0)
      if (thread == 0) start(params, shared, segment, item);
    if (phase > 0 && shared.idle) return false;
    if constexpr (phase == 1) prepare(params, shared, segment, item, thread);
    if constexpr (phase == 2) shared.skips.prepare_first(thread);
    if constexpr (phase == 3) shared.skips.prepare_all(thread);
    if constexpr (phase == 4) list(shared, segment, thread);
    if constexpr (phase == 5) return read_listed(shared, segment, thread);
    if constexpr (phase == 6) shared.blocks.add_up(thread);
    if constexpr (phase == 7) store(params, shared, segment, item, thread);
    return false;
  }

 private:
  static constexpr unsigned kNone = ~0u;

  AVIDA_HD AVIDA_INLINE static int lead_of(const JpegSegment& segment) { return again ? 0 : segment.lead; }

  AVIDA_HD AVIDA_INLINE static void start(const Params& params, Shared& shared, const JpegSegment& segment, long item) {
    shared.start = lead_of(segment) ? 0 : segment.guess;
    shared.idle = false;
    if (!again) return;
    // The segment before may change meanwhile: then this one is not yet done, which the next launch finds.
    if (item > segment.first_of_interval) shared.start = *const_cast<volatile unsigned*>(params.ends + item - 1);
    shared.idle = params.begins[segment.first_part] == shared.start;
  }

  AVIDA_HD AVIDA_INLINE static void prepare(const Params& params, Shared& shared, const JpegSegment& segment, long item,
                                            int thread) {
    copy_jpeg_scan(params.files[segment.file].scan, shared.skips.scan, thread);
    shared.begin[thread] = kNone;
    shared.blocks.numbers[thread] = 0;
    if (thread == 0) shared.next_listed = shared.listed = 0;
    if (!again || thread >= segment.parts()) return;
    const int part = segment.first_part + thread;
    shared.begin[thread] = params.begins[part];
    shared.blocks.numbers[thread] = params.part_blocks[part];
    shared.end[thread] = thread + 1 < segment.parts() ? params.begins[part + 1] : params.ends[item];
  }

  // Lists the parts whose predecessor now ends in another state.
  AVIDA_HD AVIDA_INLINE static void list(Shared& shared, const JpegSegment& segment, int thread) {
    if (thread == 0) shared.first_listed = shared.next_listed;
    if (thread >= lead_of(segment) + segment.parts()) return;
    const unsigned begun = shared.begin[thread];
    const unsigned begin = thread == 0 ? shared.start : begun == kNone ? 0 : shared.end[thread - 1];
    if (begin == begun) return;
    shared.begin[thread] = begin;
#ifdef __CUDA_ARCH__
    const unsigned at = atomicAdd(&shared.listed, 1u);
#else
    const unsigned at = shared.listed++;
#endif
    shared.list[at % kThreads] = static_cast<unsigned short>(thread);
  }

  // Returns whether there was one.
  AVIDA_HD AVIDA_INLINE static bool read_listed(Shared& shared, const JpegSegment& segment, int thread) {
    const unsigned at = shared.first_listed + static_cast<unsigned>(thread);
    if (thread == 0) shared.next_listed = shared.listed;
    if (at >= shared.listed) return false;
    const int number = shared.list[at % kThreads], part = number - lead_of(segment);
    const unsigned end = segment.part_end(part);
    const JpegState from{shared.begin[number]};
    const JpegScan& scan = shared.skips.scan;
    const unsigned second_dc = scan.second_dc, second_ac = scan.second_ac;
    const unsigned last_block = static_cast<unsigned>(scan.period) - 1;
    unsigned k = from.k(), block = from.block();
    unsigned blocks = 0;
    JpegWindow window(segment.bytes, segment.part_begin(part) + from.over());
    while (window.at < end) {
      const unsigned bits = window.bits(), code = jpeg_code_of(second_dc, second_ac, k, block);
      const JpegSkips::Entry entry{shared.skips.entries[code][bits >> (32 - JpegSkips::kLook)]};
      JpegSymbol symbol = entry.first();
      if (symbol.packed == JpegSymbol::kLonger) symbol = JpegSymbol::find_longer(scan, code, bits, JpegSkips::kLook);
      // Several at once, unless the block or the part may end in between.
      const bool several = entry.bits() && k + entry.further() < 64 && window.at + JpegSkips::kLook <= end;
      window.skip(several ? entry.bits() : symbol.bits());
      k += several ? entry.further() : symbol.further();
      if (k >= 64 || (several && entry.ends())) {
        k = 0;
        block = block == last_block ? 0 : block + 1;
        blocks++;
      }
    }
    shared.end[number] = JpegState::of(window.at - end, k, block).packed;
    if (part >= 0) shared.blocks.numbers[number] = blocks;
    return true;
  }

  AVIDA_HD AVIDA_INLINE static void store(const Params& params, const Shared& shared, const JpegSegment& segment,
                                          long item, int thread) {
    const int part = thread - lead_of(segment);
    if (part < 0 || part >= segment.parts()) return;
    params.begins[segment.first_part + part] = shared.begin[thread];
    params.part_blocks[segment.first_part + part] = shared.blocks.numbers[thread];
    if (part + 1 < segment.parts()) return;
    params.ends[item] = shared.end[thread];
    params.blocks[item] = shared.blocks.all();
  }
};

}  // namespace avida
