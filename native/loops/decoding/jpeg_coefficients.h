// GPU bodies that read the coefficients of a JPEG scan, once it is known where its codes begin. Read by NVRTC too.
#pragma once
#include "loops/decoding/jpeg_scan.h"

namespace avida {

// A block of the planes, or null for one outside of the image. `x` and `y` are its MCU's.
AVIDA_HD AVIDA_INLINE short* jpeg_block(const JpegFile& file, const JpegScan& scan, int x, int y, int block) {
  const auto place = scan.place[block];
  const JpegScan::Plane& plane = scan.plane[place.plane];
  const int column = x * plane.mcu_columns + place.column, row = y * plane.mcu_rows + place.row;
  if (column >= plane.columns || row >= plane.rows) return nullptr;
  return file.coefficients + (plane.before + static_cast<long>(row) * plane.columns + column) * 64;
}

// Writes the AC coefficients and the differences of the DC coefficients. An item is a segment.
struct JpegReader {
  static constexpr const char* header = "loops/decoding/jpeg_coefficients.h";
  static constexpr bool kUsual = true;
  static constexpr int kThreads = JpegSegment::kThreads, kPhases = 3;
  using Params = JpegWork;

  struct Shared {
    JpegTables tables;
    JpegSums parts;     // blocks that end in a part
    JpegSums segments;  // blocks of segments before, a few of them for each thread
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const JpegSegment& segment = params.segments[item];
    const JpegFile file = params.files[segment.file];
    if constexpr (phase == 0) {
      copy_jpeg_scan(file.scan, shared.tables.scan, thread);
      count(params, shared, segment, item, thread);
      if (thread == 0 && !follows(params, segment, item)) fail(file);
    }
    if constexpr (phase == 1) {
      shared.tables.prepare(thread);
      shared.parts.add_up(thread);
      shared.segments.add_up(thread);
    }
    if constexpr (phase == 2) {
      if (thread == 0 && segment.skipped && !repeats(params, shared, segment)) fail(file);
      if (thread < segment.parts()) write(params, shared, segment, file, thread);
    }
  }

 private:
  AVIDA_HD AVIDA_INLINE static void fail(const JpegFile& file) { *file.failed = 1; }

  AVIDA_HD AVIDA_INLINE static bool follows(const Params& params, const JpegSegment& segment, long item) {
    return params.begins[segment.first_part] ==
           (item > segment.first_of_interval ? params.ends[item - 1] : segment.guess);
  }

  AVIDA_HD AVIDA_INLINE static void count(const Params& params, Shared& shared, const JpegSegment& segment, long item,
                                          int thread) {
    shared.parts.numbers[thread] = thread < segment.parts() ? params.part_blocks[segment.first_part + thread] : 0;
    unsigned sum = thread == 0 ? segment.skipped : 0;
    for (long i = segment.first_of_interval + thread; i < item; i += kThreads)
      sum += params.blocks[i] + params.segments[i].skipped;
    shared.segments.numbers[thread] = sum;
  }

  // Whether the first bits are zero blocks after which everything is as before: so are those that were skipped.
  AVIDA_HD AVIDA_INLINE static bool repeats(const Params& params, const Shared& shared, const JpegSegment& segment) {
    const JpegState from{params.begins[segment.first_part]};
    const JpegScan& scan = shared.tables.scan;
    const unsigned last_block = static_cast<unsigned>(scan.period) - 1;
    unsigned k = from.k(), block = from.block(), blocks = 0;
    JpegWindow window(segment.bytes, segment.first + from.over());
    const unsigned end = window.at + segment.period;
    while (window.at < end) {
      const JpegSymbol entry =
          shared.tables.look_up(jpeg_code_of(scan.second_dc, scan.second_ac, k, block), window.bits());
      if (entry.size() || !entry.further()) return false;
      window.skip(entry.bits());
      k += entry.further();
      if (k < 64) continue;
      k = 0;
      block = block == last_block ? 0 : block + 1;
      blocks++;
    }
    return window.at == end && k == from.k() && block == from.block() && blocks == segment.period_blocks;
  }

  // Four neighbouring coefficients, written together. Those that are there already are another thread's, and stay.
  struct Four {
    short* block;  // null: nothing is written
    unsigned which = 0;
    unsigned long held = 0;

    AVIDA_HD AVIDA_INLINE void put(unsigned k, short value) {
      if (k / 4 != which) write();
      which = k / 4;
      held |= static_cast<unsigned long>(static_cast<unsigned short>(value)) << k % 4 * 16;
    }
    AVIDA_HD AVIDA_INLINE void write() {
      if (!held || !block) return;
#ifdef __CUDA_ARCH__
      asm volatile("red.global.or.b64 [%0], %1;" ::"l"(block + 4 * which), "l"(held) : "memory");
#else
      unsigned long there;
      __builtin_memcpy(&there, block + 4 * which, 8);
      held |= there;
      __builtin_memcpy(block + 4 * which, &held, 8);
#endif
      held = 0;
    }
  };

  AVIDA_HD AVIDA_INLINE static void write(const Params& params, Shared& shared, const JpegSegment& segment,
                                          const JpegFile& file, int part) {
    const JpegScan& scan = shared.tables.scan;
    const int all = segment.end_block;
    int block = segment.first_block + static_cast<int>(shared.segments.all() + shared.parts.before(part));
    if (block >= all) return;  // padding bits, or data after the image
    const int mcu = block / scan.blocks;
    int y = mcu / scan.mcus_across, x = mcu - y * scan.mcus_across;
    int in_mcu = block - mcu * scan.blocks;
    const unsigned end = segment.part_end(part);
    const JpegState from{params.begins[segment.first_part + part]};
    const unsigned second_dc = scan.second_dc, second_ac = scan.second_ac;
    unsigned k = from.k();
    short* const steps = file.steps;
    const int* factors = scan.plane[scan.place[in_mcu].plane].factors;
    Four four{jpeg_block(file, scan, x, y, in_mcu)};
    JpegWindow window(segment.bytes, segment.part_begin(part) + from.over());
    while (window.at < end) {
      const unsigned held = window.bits();
      const JpegSymbol entry =
          shared.tables.look_up(jpeg_code_of(second_dc, second_ac, k, static_cast<unsigned>(in_mcu)), held);
      const unsigned n = entry.bits(), size = entry.size();
      window.skip(n);
      // The upper half of the numbers of `size` bits is positive.
      const int number = size ? static_cast<int>(held << (n - size) >> (32 - size)) : 0;
      const int value = size && number >> (size - 1) == 0 ? number - (1 << size) + 1 : number;
      const unsigned before = k;
      k += entry.further();
      if (k == before || (k > 64 && entry.further() != JpegSymbol::kEndOfBlock)) return fail(file);
      if (before == 0) {
        steps[block] = static_cast<short>(value);
      } else if (size) {
        four.put(k - 1, saturate<short>(value * factors[k - 1]));
      }
      if (k < 64) continue;
      k = 0;
      four.write();
      if (++block == all) {
        const unsigned last = segment.first + segment.count + segment.after;
        if (window.at <= last && last - window.at < 8) params.complete[segment.interval] = 1;
        return;
      }
      if (++in_mcu == scan.blocks) {
        in_mcu = 0;
        if (++x == scan.mcus_across) x = 0, y++;
      }
      four = Four{jpeg_block(file, scan, x, y, in_mcu)};
      factors = scan.plane[scan.place[in_mcu].plane].factors;
    }
    four.write();
  }
};

// Consecutive MCUs of an interval.
struct JpegSlice {
  static constexpr int kMcus = 256;
  int file, interval;
  int first_of_interval;  // the index of a slice
  int first_mcu, mcus;
};

// DC coefficients are coded as differences from the block before. First the differences of each slice are added up,
// then the coefficients are written (`write`). An item is a slice.
template <bool write>
struct JpegSteps {
  static constexpr const char* header = "loops/decoding/jpeg_coefficients.h";
  static constexpr bool kUsual = true;
  static constexpr int kThreads = JpegSegment::kThreads, kPhases = 4;
  struct Params {
    const JpegFile* files;
    const JpegSlice* slices;
    const int* complete;  // of each interval
    unsigned* sums;       // of each slice, for three planes; they may wrap: by then a DC coefficient was too large
  };
  struct Shared {
    JpegScan scan;
    JpegSums threads[3], slices[3];  // of each thread's own steps, and of the slices before
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const JpegSlice& slice = params.slices[item];
    const JpegFile file = params.files[slice.file];
    if constexpr (phase == 0) copy_jpeg_scan(file.scan, shared.scan, thread);
    if constexpr (phase == 1) sum(params, shared, slice, file, item, thread);
    if constexpr (phase == 2)
      for (int c = 0; c < 3; c++) {
        shared.threads[c].add_up(thread);
        if (write) shared.slices[c].add_up(thread);
      }
    if constexpr (phase == 3 && write) {
      if (thread == 0 && !params.complete[slice.interval]) *file.failed = 1;
      write_first(shared, slice, file, thread);
    }
    if constexpr (phase == 3 && !write)
      if (thread < 3) params.sums[3 * item + thread] = shared.threads[thread].all();
  }

 private:
  // Calls fn(MCU, block, step) for each block of the MCUs that are the thread's.
  template <class Fn>
  AVIDA_HD AVIDA_INLINE static void each_step(const Shared& shared, const JpegSlice& slice, const JpegFile& file,
                                              int thread, const Fn& fn) {
    const int each = (slice.mcus + kThreads - 1) / kThreads, first = thread * each;
    const int end = first + each < slice.mcus ? first + each : slice.mcus;
    const int blocks = shared.scan.blocks;
    for (int mcu = slice.first_mcu + first; mcu < slice.first_mcu + end; mcu++)
      for (int block = 0; block < blocks; block++) fn(mcu, block, file.steps[static_cast<long>(mcu) * blocks + block]);
  }

  AVIDA_HD AVIDA_INLINE static void sum(const Params& params, Shared& shared, const JpegSlice& slice,
                                        const JpegFile& file, long item, int thread) {
    unsigned sums[3] = {};
    each_step(shared, slice, file, thread, [&](int, int block, int step) {
      const int plane = shared.scan.place[block].plane;
      for (int c = 0; c < 3; c++) sums[c] += c == plane ? static_cast<unsigned>(step) : 0;
    });
    for (int c = 0; c < 3; c++) shared.threads[c].numbers[thread] = sums[c];
    if (!write) return;
    unsigned before[3] = {};
    for (long i = slice.first_of_interval + thread; i < item; i += kThreads)
      for (int c = 0; c < 3; c++) before[c] += params.sums[3 * i + c];
    for (int c = 0; c < 3; c++) shared.slices[c].numbers[thread] = before[c];
  }

  AVIDA_HD AVIDA_INLINE static void write_first(const Shared& shared, const JpegSlice& slice, const JpegFile& file,
                                                int thread) {
    const JpegScan& scan = shared.scan;
    unsigned sums[3];
    for (int c = 0; c < 3; c++) sums[c] = shared.slices[c].all() + shared.threads[c].before(thread);
    each_step(shared, slice, file, thread, [&](int mcu, int block, int step) {
      const int plane = scan.place[block].plane;
      int value = 0;
      for (int c = 0; c < 3; c++)
        if (c == plane) value = static_cast<int>(sums[c] += static_cast<unsigned>(step));
      const auto kept = static_cast<short>(value);
      if (value != kept) *file.failed = 1;
      const int y = mcu / scan.mcus_across, x = mcu - y * scan.mcus_across;
      if (short* to = jpeg_block(file, scan, x, y, block)) to[0] = saturate<short>(kept * scan.plane[plane].factors[0]);
    });
  }
};

}  // namespace avida
