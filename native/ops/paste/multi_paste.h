// The body of multi_paste: 16 bytes of a canvas of several regions. Read by NVRTC too: no std headers.
#pragma once
#include "device/divide.h"
#include "device/words.h"

namespace avida::ops {

// Columns are counted in bytes.
struct PastedRegion {
  const unsigned char *image, *image_end;
  const unsigned char* in;            // the region in the first frame of the image
  long row_step, frame_step;          // from row to row and from frame to frame there
  long top, left, height, row_bytes;  // on the canvas
};

// Each item is 16 bytes of a row of the canvas. Of overlapping regions the last one is visible.
struct MultiPaste {
  static constexpr const char* header = "ops/paste/multi_paste.h";
  static constexpr int kWords = 4, kBytes = 4 * kWords;
  struct Params {
    unsigned char* out;  // of the frame
    const PastedRegion* regions;
    int region_count;
    long frame, row_bytes;

    AVIDA_HD AVIDA_INLINE long row_items() const { return (row_bytes + kBytes - 1) / kBytes; }
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const auto [y, piece] = divided(item, params.row_items());
    const long first = piece * kBytes;
    unsigned made[kWords] = {}, open[kWords] = {~0u, ~0u, ~0u, ~0u};  // bytes that no region covers yet
    bool all_covered = false;
    for (int k = params.region_count - 1; k >= 0 && !all_covered; k--) {
      const PastedRegion& region = params.regions[k];
      const long row = y - region.top, at = first - region.left;
      if (row < 0 || row >= region.height || at <= -kBytes || at >= region.row_bytes) continue;
      const int begin = at < 0 ? static_cast<int>(-at) : 0;
      const int end = region.row_bytes - at < kBytes ? static_cast<int>(region.row_bytes - at) : kBytes;
      unsigned words[kWords] = {};
      load(region, region.in + params.frame * region.frame_step + row * region.row_step + at, begin, end, words);
      all_covered = true;
      for (int w = 0; w < kWords; w++) {
        const unsigned seen = bytes_from(begin - 4 * w) & ~bytes_from(end - 4 * w) & open[w];
        made[w] |= words[w] & seen;
        open[w] &= ~seen;
        all_covered &= open[w] == 0;
      }
    }
    unsigned char* out = params.out + y * params.row_bytes + first;
    if (first + kBytes <= params.row_bytes) return store_words(out, made);
    for (int i = 0; i < kBytes; i++)
      if (first + i < params.row_bytes) out[i] = static_cast<unsigned char>(made[i / 4] >> i % 4 * 8);
  }

 private:
  // A mask of the bytes of a word from `first` on, which may lie before or after the word.
  AVIDA_HD AVIDA_INLINE static unsigned bytes_from(int first) {
    return first <= 0 ? ~0u : first >= 4 ? 0 : ~0u << 8 * first;
  }

  // Bytes outside of the region may be read, but none outside of the image.
  AVIDA_HD AVIDA_INLINE static void load(const PastedRegion& region, const unsigned char* from, int begin, int end,
                                         unsigned (&words)[kWords]) {
    if (from >= region.image && from + kBytes <= region.image_end) return load_words(from, words);
    for (int i = 0; i < kBytes; i++)
      if (i >= begin && i < end) words[i / 4] |= static_cast<unsigned>(from[i]) << i % 4 * 8;
  }
};

}  // namespace avida::ops
