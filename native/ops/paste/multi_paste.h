// Regions of several images on one canvas. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/packed.h"
#include "kernel/view.h"

namespace avida::ops {

// Columns are counted in bytes.
struct PastedRegion {
  const unsigned char* in;            // the region in the first frame of its image
  long row_step, frame_step;          // from row to row and from frame to frame there
  long top, left, height, row_bytes;  // on the canvas
};

// An item is some bytes of a row of the canvas; of regions that overlap, the last one is seen.
struct MultiPaste {
  static constexpr const char* header = "ops/paste/multi_paste.h";
  static constexpr int kBytes = 16;
  struct Params {
    unsigned char* out;
    const PastedRegion* regions;
    int region_count;
    long frames, height, row_bytes;

    AVIDA_HD AVIDA_INLINE long row_items() const { return (row_bytes + kBytes - 1) / kBytes; }
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const auto [frame, y, column] = place_of<3>(item, {{params.frames, params.height, params.row_items()}}).at;
    const long first = column * kBytes;
    unsigned char* out = params.out + (frame * params.height + y) * params.row_bytes + first;
    const bool whole = first + kBytes <= params.row_bytes;
    for (int k = params.region_count - 1; k >= 0 && whole; k--) {
      const PastedRegion& region = params.regions[k];
      const long row = y - region.top, at = first - region.left;
      if (row < 0 || row >= region.height || at <= -kBytes || at >= region.row_bytes) continue;
      if (at < 0 || at + kBytes > region.row_bytes) return each_byte(params, out, frame, y, first, kBytes);
      unsigned char bytes[kBytes];
      load_bytes(region.in + frame * region.frame_step + row * region.row_step + at, bytes);
      return store(out, bytes);
    }
    if (!whole) return each_byte(params, out, frame, y, first, static_cast<int>(params.row_bytes - first));
    store(out, {});
  }

 private:
  struct alignas(kBytes) Words {
    unsigned at[kBytes / 4];
  };
  AVIDA_HD AVIDA_INLINE static void store(unsigned char* out, const unsigned char (&bytes)[kBytes]) {
    if (reinterpret_cast<unsigned long>(out) % kBytes) return store_bytes(out, bytes);
    Words words;
    for (int k = 0; k < kBytes / 4; k++)
      words.at[k] =
          bytes[4 * k] | bytes[4 * k + 1] << 8 | bytes[4 * k + 2] << 16 | static_cast<unsigned>(bytes[4 * k + 3]) << 24;
    *reinterpret_cast<Words*>(out) = words;
  }

  AVIDA_HD static void each_byte(const Params& params, unsigned char* out, long frame, long y, long first, int n) {
    for (int i = 0; i < n; i++) {
      unsigned char byte = 0;
      for (int k = params.region_count - 1; k >= 0; k--) {
        const PastedRegion& region = params.regions[k];
        const long row = y - region.top, at = first + i - region.left;
        if (row < 0 || row >= region.height || at < 0 || at >= region.row_bytes) continue;
        byte = region.in[frame * region.frame_step + row * region.row_step + at];
        break;
      }
      out[i] = byte;
    }
  }
};

}  // namespace avida::ops
