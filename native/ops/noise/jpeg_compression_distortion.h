// What images lose as JPEG files, on a GPU: the whole numbers that libjpeg-turbo computes, without the file between
// them. First blocks of 8 x 8 samples lose what their quantization takes, then planes become pixels again. Read by
// NVRTC too: no std headers.
#pragma once
#include "kernel/convert.h"
#include "kernel/packed.h"
#include "kernel/view.h"

namespace avida::ops {

AVIDA_HD AVIDA_INLINE int rounded_shift(int x, int bits) { return (x + (1 << (bits - 1))) >> bits; }

// Cosine transforms of 8 numbers after Loeffler, Ligtenberg and Moschytz (1989), with factors of 13 bits. Results of
// the first pass, over one axis, keep two bits of fraction.
namespace cosine {

constexpr int kFactorBits = 13, kExtraBits = 2;

AVIDA_HD AVIDA_INLINE constexpr int factor(double x) { return static_cast<int>(x * (1 << kFactorBits) + 0.5); }

// What both directions do to the odd half: adds up a rotated, b, c and d.
struct Odd {
  int a, b, c, d;
  AVIDA_HD AVIDA_INLINE Odd(int a_in, int b_in, int c_in, int d_in) {
    const int all = (a_in + b_in + c_in + d_in) * factor(1.175875602);
    const int ad = -(a_in + d_in) * factor(0.899976223), bc = -(b_in + c_in) * factor(2.562915447);
    const int ac = all - (a_in + c_in) * factor(1.961570560), bd = all - (b_in + d_in) * factor(0.390180644);
    a = a_in * factor(0.298631336) + ad + ac;
    b = b_in * factor(2.053119869) + bc + bd;
    c = c_in * factor(3.072711026) + bc + ac;
    d = d_in * factor(1.501321110) + ad + bd;
  }
};

template <bool first>
AVIDA_HD AVIDA_INLINE void forward(int (&x)[8]) {
  constexpr int bits = first ? kFactorBits - kExtraBits : kFactorBits + kExtraBits;
  const int s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
  const Odd odd(x[3] - x[4], x[2] - x[5], x[1] - x[6], x[0] - x[7]);
  const int sum = s0 + s3 + s1 + s2, difference = s0 + s3 - s1 - s2, outer = s0 - s3, inner = s1 - s2;
  const int both = (outer + inner) * factor(0.541196100);
  x[0] = first ? sum << kExtraBits : rounded_shift(sum, kExtraBits);
  x[4] = first ? difference << kExtraBits : rounded_shift(difference, kExtraBits);
  x[2] = rounded_shift(both + outer * factor(0.765366865), bits);
  x[6] = rounded_shift(both - inner * factor(1.847759065), bits);
  x[7] = rounded_shift(odd.a, bits);
  x[5] = rounded_shift(odd.b, bits);
  x[3] = rounded_shift(odd.c, bits);
  x[1] = rounded_shift(odd.d, bits);
}

template <bool first>
AVIDA_HD AVIDA_INLINE void inverse(int (&x)[8]) {
  constexpr int bits = first ? kFactorBits - kExtraBits : kFactorBits + kExtraBits + 3;
  const int both = (x[2] + x[6]) * factor(0.541196100);
  const int inner = both - x[6] * factor(1.847759065), outer = both + x[2] * factor(0.765366865);
  const int sum = (x[0] + x[4]) * (1 << kFactorBits), difference = (x[0] - x[4]) * (1 << kFactorBits);
  const Odd odd(x[7], x[5], x[3], x[1]);
  const int even[4] = {sum + outer, difference + inner, difference - inner, sum - outer};
  const int beside[4] = {odd.d, odd.c, odd.b, odd.a};
  for (int k = 0; k < 4; k++) {
    x[k] = rounded_shift(even[k] + beside[k], bits);
    x[7 - k] = rounded_shift(even[k] - beside[k], bits);
  }
}

}  // namespace cosine

// Images and the planes made of them: luma, and for colours two planes of half the width and height. All are extended
// to whole tiles.
struct JpegPlanes {
  static constexpr int kTileHeight = 16, kTileWidth = 64;
  unsigned char* planes;
  long frames;
  int height, width, channels;  // 1: gray, 3: RGB

  AVIDA_HD AVIDA_INLINE int tiles_down() const { return (height + kTileHeight - 1) / kTileHeight; }
  AVIDA_HD AVIDA_INLINE int tiles_across() const { return (width + kTileWidth - 1) / kTileWidth; }
  AVIDA_HD AVIDA_INLINE int step() const { return tiles_across() * kTileWidth; }  // from row to row of luma
  AVIDA_HD AVIDA_INLINE long luma_bytes() const { return long{step()} * tiles_down() * kTileHeight; }
  AVIDA_HD AVIDA_INLINE long frame_bytes() const { return channels == 1 ? luma_bytes() : luma_bytes() / 2 * 3; }
  AVIDA_HD AVIDA_INLINE int chroma_height() const { return (height + 1) / 2; }
  AVIDA_HD AVIDA_INLINE int chroma_width() const { return (width + 1) / 2; }
  // Plane 0 is luma, 1 is blueness, 2 is redness.
  AVIDA_HD AVIDA_INLINE unsigned char* plane(long frame, int k) const {
    return planes + frame * frame_bytes() + (k == 0 ? 0 : luma_bytes() + (k - 1) * (luma_bytes() / 4));
  }
};

// An item is a tile of all planes: blocks are transformed, quantized and transformed back, by eight threads each.
struct JpegBlocks {
  static constexpr const char* header = "ops/noise/jpeg_compression_distortion.h";
  static constexpr int kThreads = 256, kPhases = 4, kHeight = JpegPlanes::kTileHeight, kWidth = JpegPlanes::kTileWidth;
  static constexpr int kAcross = kWidth / 8, kLumaBlocks = kAcross * kHeight / 8, kBlocks = kLumaBlocks * 3 / 2;
  struct Params {
    const unsigned char* in;
    JpegPlanes image;
    unsigned short steps[2][64];  // of quantization: of luma and of the other planes
  };
  struct Shared {
    alignas(16) short at[kBlocks][64 + 8];  // apart, so that columns of neighbours lie in different banks
    unsigned divisor[2][64], inverse[2][64];
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const JpegPlanes& image = params.image;
    const auto [frame, tile_y, tile_x] =
        place_of<3>(item, {{image.frames, image.tiles_down(), image.tiles_across()}}).at;
    const int block = thread / 8, i = thread % 8;
    const int plane = block < kLumaBlocks ? 0 : 1 + (block - kLumaBlocks) / (kAcross / 2);
    const bool has_block = block < (image.channels == 1 ? kLumaBlocks : kBlocks);
    if constexpr (phase == 0) {
      if (thread < 128) prepare_division(params, shared, thread / 64, thread % 64);
      const unsigned char* in = params.in + frame * image.height * image.width * image.channels;
      load(in, image, static_cast<int>(tile_y) * kHeight, static_cast<int>(tile_x) * kWidth, shared, thread);
    } else if constexpr (phase == 1) {
      if (!has_block) return;
      int x[8];
      for (int k = 0; k < 8; k++) x[k] = shared.at[block][8 * i + k];
      cosine::forward<true>(x);
      for (int k = 0; k < 8; k++) shared.at[block][8 * i + k] = static_cast<short>(x[k]);
    } else if constexpr (phase == 2) {
      if (!has_block) return;
      int x[8];
      for (int k = 0; k < 8; k++) x[k] = shared.at[block][8 * k + i];
      cosine::forward<false>(x);
      const int table = plane > 0;
      for (int k = 0; k < 8; k++)
        x[k] = quantized(x[k], shared.divisor[table][8 * k + i], shared.inverse[table][8 * k + i]);
      cosine::inverse<true>(x);
      for (int k = 0; k < 8; k++) shared.at[block][8 * k + i] = static_cast<short>(x[k]);
    } else {
      if (!has_block) return;
      int x[8];
      for (int k = 0; k < 8; k++) x[k] = shared.at[block][8 * i + k];
      cosine::inverse<false>(x);
      const int of_plane = plane == 0 ? block : (block - kLumaBlocks) % (kAcross / 2);
      const int halves = plane == 0 ? 1 : 2, step = image.step() / halves;
      const long row = tile_y * (kHeight / halves) + of_plane / kAcross * 8 + i;
      const long column = tile_x * (kWidth / halves) + of_plane % kAcross * 8;
      EightBytes bytes;
      for (int k = 0; k < 8; k++) bytes.at[k] = saturate<unsigned char>(x[k] + 128);
      *reinterpret_cast<EightBytes*>(image.plane(frame, plane) + row * step + column) = bytes;
    }
  }

 private:
  struct alignas(8) EightBytes {
    unsigned char at[8];
  };

  // Results of the transform are 8 times too large. A multiplication stands for the division: exact below 1 << 16.
  AVIDA_HD AVIDA_INLINE static void prepare_division(const Params& params, Shared& shared, int table, int k) {
    const unsigned divisor = params.steps[table][k] * 8u;
    shared.divisor[table][k] = divisor;
    shared.inverse[table][k] = 0xffffffffu / divisor + 1;
  }
  AVIDA_HD AVIDA_INLINE static int quantized(int x, unsigned divisor, unsigned inverse) {
    const unsigned size = static_cast<unsigned>(x < 0 ? -x : x) + divisor / 2;
    const unsigned steps = static_cast<unsigned>(static_cast<unsigned long>(size) * inverse >> 32);
    const int made = static_cast<int>(steps * (divisor / 8));
    return x < 0 ? -made : made;
  }

  // Samples are around 0. A thread makes four of luma, and one of each other plane. What lies beyond the image is as
  // its last pixels; the other planes go on below with their last row.
  AVIDA_HD AVIDA_INLINE static void load(const unsigned char* in, const JpegPlanes& image, int top, int left,
                                         Shared& shared, int thread) {
    constexpr int across = kWidth / 2;
    static_assert(across * kHeight / 2 == kThreads);
    const int y = thread / across, x = thread % across;
    const auto pixel = [&](int row, int column) {
      row = row < image.height ? row : image.height - 1;
      column = column < image.width ? column : image.width - 1;
      return in + (long{row} * image.width + column) * image.channels;
    };
    int blueness = 0, redness = 0;
    for (int dy = 0; dy < 2; dy++)
      for (int dx = 0; dx < 2; dx++) {
        const int row = 2 * y + dy, column = 2 * x + dx;
        const unsigned char* at = pixel(top + row, left + column);
        int luma = at[0];
        if (image.channels == 3) {
          const int red = at[0], green = at[1], blue = at[2];
          luma = (19595 * red + 38470 * green + 7471 * blue + (1 << 15)) >> 16;
          constexpr int middle = (128 << 16) + (1 << 15) - 1;
          blueness += (-11059 * red - 21709 * green + 32768 * blue + middle) >> 16;
          redness += (32768 * red - 27439 * green - 5329 * blue + middle) >> 16;
        }
        shared.at[row / 8 * kAcross + column / 8][row % 8 * 8 + column % 8] = static_cast<short>(luma - 128);
      }
    if (image.channels == 1) return;
    const int rows = image.chroma_height() - top / 2, rounding = 1 + x % 2;
    const short blue = static_cast<short>(((blueness + rounding) >> 2) - 128);
    const short red = static_cast<short>(((redness + rounding) >> 2) - 128);
    const int block = kLumaBlocks + x / 8, end = y == rows - 1 ? kHeight / 2 : y + 1;
    for (int row = y; row < end && y < rows; row++) {
      shared.at[block][row * 8 + x % 8] = blue;
      shared.at[block + kAcross / 2][row * 8 + x % 8] = red;
    }
  }
};

// Makes pixels of planes: four neighbours in a row for each thread.
struct JpegPixels {
  static constexpr const char* header = "ops/noise/jpeg_compression_distortion.h";
  static constexpr int kThreads = 256, kPhases = 2, kTogether = 4;
  struct Params {
    unsigned char* out;
    JpegPlanes image;

    AVIDA_HD AVIDA_INLINE int row_quads() const { return (image.width + kTogether - 1) / kTogether; }
    AVIDA_HD AVIDA_INLINE long quads() const { return image.frames * image.height * row_quads(); }
    // Whether the results of threads lie side by side in whole words: then the block writes them together.
    AVIDA_HD AVIDA_INLINE bool in_words() const {
      return image.channels == 3 && image.width % kTogether == 0 && reinterpret_cast<unsigned long>(out) % 4 == 0;
    }
  };
  struct Shared {
    unsigned words[3 * kThreads];
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const JpegPlanes& image = params.image;
    const long first = item * kThreads, quads = params.quads();
    if constexpr (phase == 0) {
      if (first + thread >= quads) return;
      const auto [frame, y, quad] = place_of<3>(first + thread, {{image.frames, image.height, params.row_quads()}}).at;
      const int row = static_cast<int>(y), x = static_cast<int>(quad) * kTogether;
      unsigned char luma[kTogether], made[3 * kTogether];
      load_bytes(image.plane(frame, 0) + y * image.step() + x, luma);
      unsigned char* out = params.out + ((frame * image.height + y) * image.width + x) * image.channels;
      if (image.channels == 1) {
        for (int i = 0; i < kTogether && i < image.width - x; i++) out[i] = luma[i];
        return;
      }
      int blueness[kTogether], redness[kTogether];
      spread(image, image.plane(frame, 1), row, x, blueness);
      spread(image, image.plane(frame, 2), row, x, redness);
      for (int i = 0; i < kTogether; i++) {
        const int blue = blueness[i] - 128, red = redness[i] - 128, half = 1 << 15;
        made[3 * i] = saturate<unsigned char>(luma[i] + ((91881 * red + half) >> 16));
        made[3 * i + 1] = saturate<unsigned char>(luma[i] + ((-22554 * blue - 46802 * red + half) >> 16));
        made[3 * i + 2] = saturate<unsigned char>(luma[i] + ((116130 * blue + half) >> 16));
      }
      if (!params.in_words()) {
        for (int i = 0; i < kTogether; i++)
          for (int c = 0; c < 3 && i < image.width - x; c++) out[3 * i + c] = made[3 * i + c];
        return;
      }
      for (int w = 0; w < 3; w++)
        shared.words[3 * thread + w] =
            made[4 * w] | made[4 * w + 1] << 8 | made[4 * w + 2] << 16 | static_cast<unsigned>(made[4 * w + 3]) << 24;
    } else {
      if (!params.in_words()) return;
      const long left = quads - first;
      const int n = static_cast<int>(left < kThreads ? left : kThreads) * 3;
      unsigned* out = reinterpret_cast<unsigned*>(params.out) + first * 3;
      for (int i = thread; i < n; i += kThreads) out[i] = shared.words[i];
    }
  }

 private:
  // Samples of a plane of half the size at the places of four pixels: three parts of the nearest and one of the next
  // along each axis. Very narrow planes are only repeated.
  AVIDA_HD AVIDA_INLINE static void spread(const JpegPlanes& image, const unsigned char* plane, int y, int x,
                                           int (&to)[kTogether]) {
    const int step = image.step() / 2, last_row = image.chroma_height() - 1, last_column = image.chroma_width() - 1;
    const int other = y % 2 ? y / 2 + 1 : y / 2 - 1, column = x / 2;
    const unsigned char* near = plane + long{y / 2} * step;
    const unsigned char* far = plane + long{other < 0 ? 0 : other > last_row ? last_row : other} * step;
    if (last_column < 2) {
      for (int i = 0; i < kTogether; i++) to[i] = near[column + i / 2 < last_column ? column + i / 2 : last_column];
      return;
    }
    int sum[4];  // from one column before
    if (column > 0 && column + 2 <= last_column) {
      unsigned char a[4], b[4];
      load_bytes(near + column - 1, a);
      load_bytes(far + column - 1, b);
      for (int k = 0; k < 4; k++) sum[k] = 3 * a[k] + b[k];
    } else {
      for (int k = 0; k < 4; k++) {
        int at = column - 1 + k;
        at = at < 0 ? 0 : at > last_column ? last_column : at;
        sum[k] = 3 * near[at] + far[at];
      }
    }
    for (int i = 0; i < kTogether; i++) {
      const int here = sum[1 + i / 2], beside = i % 2 ? sum[2 + i / 2] : sum[i / 2];
      to[i] = (3 * here + beside + 8 - i % 2) >> 4;
    }
  }
};

}  // namespace avida::ops
