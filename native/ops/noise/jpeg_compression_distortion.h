// The body of jpeg_compression_distortion: the losses of JPEG files, in the integer arithmetic of libjpeg-turbo.
// Pixels become planes whose blocks have been quantized; loops/decoding/jpeg_item.h makes pixels of them. Read by NVRTC
// too: no std headers.
#pragma once
#include "device/divide.h"
#include "loops/decoding/jpeg_item.h"

namespace avida::ops {

AVIDA_HD AVIDA_INLINE int rounded_shift(int x, int bits) { return (x + (1 << (bits - 1))) >> bits; }

// The DCT of eight samples, the counterpart of inverse_cosines().
template <bool first>
AVIDA_HD AVIDA_INLINE void cosines(int (&x)[8]) {
  constexpr int bits = first ? kCosineBits - kKeptBits : kCosineBits + kKeptBits;
  const int s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
  int d0 = x[0] - x[7], d1 = x[1] - x[6], d2 = x[2] - x[5], d3 = x[3] - x[4];
  mix_odd(d3, d2, d1, d0);
  const int sum = s0 + s3 + s1 + s2, difference = s0 + s3 - s1 - s2, outer = s0 - s3, inner = s1 - s2;
  const int both = (outer + inner) * 4433;
  x[0] = first ? sum * (1 << kKeptBits) : rounded_shift(sum, kKeptBits);
  x[4] = first ? difference * (1 << kKeptBits) : rounded_shift(difference, kKeptBits);
  x[2] = rounded_shift(both + outer * 6270, bits);
  x[6] = rounded_shift(both - inner * 15137, bits);
  x[7] = rounded_shift(d3, bits);
  x[5] = rounded_shift(d2, bits);
  x[3] = rounded_shift(d1, bits);
  x[1] = rounded_shift(d0, bits);
}

// An RGB image and its planes: luma, and chroma of half the width and height. All are padded to complete tiles. A gray
// image needs no planes.
struct JpegPlanes {
  static constexpr int kTileHeight = 16, kTileWidth = 64;
  unsigned char* planes;
  int height, width, channels;  // 1: gray, 3: RGB

  AVIDA_HD AVIDA_INLINE int tiles_down() const { return (height + kTileHeight - 1) / kTileHeight; }
  AVIDA_HD AVIDA_INLINE int tiles_across() const { return (width + kTileWidth - 1) / kTileWidth; }
  AVIDA_HD AVIDA_INLINE int step() const { return tiles_across() * kTileWidth; }  // from row to row of luma
  AVIDA_HD AVIDA_INLINE long luma_bytes() const { return long{step()} * tiles_down() * kTileHeight; }
  AVIDA_HD AVIDA_INLINE int chroma_height() const { return (height + 1) / 2; }
  AVIDA_HD AVIDA_INLINE int chroma_width() const { return (width + 1) / 2; }
  // Plane 0 is luma (Y), 1 and 2 are chroma (Cb, Cr).
  AVIDA_HD AVIDA_INLINE unsigned char* plane(int k) const {
    return planes + (k == 0 ? 0 : luma_bytes() + (k - 1) * (luma_bytes() / 4));
  }
};

// Division by the steps of quantization. DCT results are scaled by 8. A division is a multiplication by the inverse,
// exact below 1 << 16.
struct Quantization {
  struct Step {
    unsigned divisor, inverse;
  };
  Step steps[64];
};

// Each item is a tile of all planes: DCT, quantization and IDCT of its blocks, with eight threads for each.
struct JpegLosses {
  static constexpr const char* header = "ops/noise/jpeg_compression_distortion.h";
  static constexpr int kThreads = 256, kPhases = 4, kHeight = JpegPlanes::kTileHeight, kWidth = JpegPlanes::kTileWidth;
  static constexpr int kAcross = kWidth / 8, kLumaBlocks = kAcross * kHeight / 8, kBlocks = kLumaBlocks * 3 / 2;
  static constexpr int kBlockStep =
      64 + 8;  // padded, so that columns of neighbouring blocks lie in different banks of shared memory
  struct Params {
    unsigned char* gray;  // the result of gray images
    const unsigned char* in;
    JpegPlanes image;
    unsigned char* plane[3];
    Divisor tiles_across;
    const Quantization* tables;  // of luma and of the other planes
  };
  struct Shared {
    alignas(16) short at[kBlocks][kBlockStep];
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const JpegPlanes& image = params.image;
    const unsigned row_of_tiles = params.tiles_across(static_cast<unsigned>(item));
    const int tile_y = static_cast<int>(row_of_tiles);
    const int tile_x = static_cast<int>(params.tiles_across.rest(static_cast<unsigned>(item), row_of_tiles));
    const int block = thread / 8, i = thread % 8;
    const int plane = block < kLumaBlocks ? 0 : 1 + (block - kLumaBlocks) / (kAcross / 2);
    const bool has_block = block < (image.channels == 1 ? kLumaBlocks : kBlocks);
    if constexpr (phase == 0) {
      image.channels == 1 ? load_gray(params, tile_y * kHeight, tile_x * kWidth, shared, thread)
                          : load_colors(params, tile_y * kHeight, tile_x * kWidth, shared, thread);
    } else if constexpr (phase == 1) {
      if (!has_block) return;
      int x[8];
      load_row(&shared.at[block][8 * i], x);
      cosines<true>(x);
      store_row(&shared.at[block][8 * i], x);
    } else if constexpr (phase == 2) {
      if (!has_block) return;
      int x[8];
      for (int k = 0; k < 8; k++) x[k] = shared.at[block][8 * k + i];
      cosines<false>(x);
      const Quantization::Step* steps = params.tables[plane > 0].steps + i;
      AVIDA_UNROLL
      for (int k = 0; k < 8; k++) x[k] = quantized(x[k], load_step(steps + 8 * k));
      inverse_cosines<true, 1>(x);
      for (int k = 0; k < 8; k++) shared.at[block][8 * k + i] = static_cast<short>(x[k]);
    } else {
      if (!has_block) return;
      int x[8];
      load_row(&shared.at[block][8 * i], x);
      inverse_cosines<false, 1>(x);
      const int of_plane = plane == 0 ? block : (block - kLumaBlocks) % (kAcross / 2);
      const int halves = plane == 0 ? 1 : 2, step = image.step() / halves;
      const long row = long{tile_y} * (kHeight / halves) + of_plane / kAcross * 8 + i;
      const int column = tile_x * (kWidth / halves) + of_plane % kAcross * 8;
      const unsigned words[] = {saturated_bytes(x[0] + 128, x[1] + 128, x[2] + 128, x[3] + 128),
                                saturated_bytes(x[4] + 128, x[5] + 128, x[6] + 128, x[7] + 128)};
      if (image.channels == 3) return store_words<8>(params.plane[plane] + row * step + column, words);
      if (row >= image.height || column >= image.width) return;
      const int left = image.width - column;
      store_some_bytes(params.gray + row * image.width + column, words, left < 8 ? left : 8);
    }
  }

 private:
  AVIDA_HD AVIDA_INLINE static Quantization::Step load_step(const Quantization::Step* step) {
    return __builtin_bit_cast(Quantization::Step, read_only(reinterpret_cast<const unsigned long*>(step)));
  }
  AVIDA_HD AVIDA_INLINE static int quantized(int x, const Quantization::Step& step) {
    const auto [divisor, inverse] = step;
    const unsigned size = static_cast<unsigned>(x < 0 ? -x : x) + divisor / 2;
    const unsigned steps = static_cast<unsigned>(static_cast<unsigned long>(size) * inverse >> 32);
    const int made = static_cast<int>(steps * (divisor / 8));
    return x < 0 ? -made : made;
  }

  // Rows of a block, at once.
  AVIDA_HD AVIDA_INLINE static void load_row(const short* from, int (&x)[8]) {
    const AlignedWords<4> words = load_aligned<4>(from);
    AVIDA_UNROLL
    for (int k = 0; k < 4; k++) {
      x[2 * k] = static_cast<short>(words.at[k]);
      x[2 * k + 1] = static_cast<int>(words.at[k]) >> 16;
    }
  }
  AVIDA_HD AVIDA_INLINE static void store_row(short* to, const int (&x)[8]) {
    AlignedWords<4> words;
    AVIDA_UNROLL
    for (int k = 0; k < 4; k++)
      words.at[k] = pick_bytes(static_cast<unsigned>(x[2 * k]), static_cast<unsigned>(x[2 * k + 1]), 0x5410);
    store_aligned(to, words);
  }

  // Samples are centred on 0. Each thread makes two by two samples of luma, and one of each chroma plane.
  struct alignas(4) Two {
    short at[2];
  };
  struct Position {
    int y, x;  // of the thread in the tile
    short* luma;
    long row_step;  // bytes from row to row of the image
    const unsigned char *upper, *lower;
    int left, right;

    // Beyond the image its last pixels are repeated.
    AVIDA_HD AVIDA_INLINE Position(const Params& params, int top, int first, Shared& shared, int thread) {
      constexpr int across = kWidth / 2;
      static_assert(across * kHeight / 2 == kThreads);
      const JpegPlanes& image = params.image;
      y = thread / across;
      x = thread % across;
      luma = &shared.at[2 * y / 8 * kAcross + 2 * x / 8][2 * y % 8 * 8 + 2 * x % 8];
      row_step = long{image.width} * image.channels;
      const int row = top + 2 * y, column = first + 2 * x;
      upper = params.in + (row < image.height ? row : image.height - 1) * row_step;
      lower = params.in + (row + 1 < image.height ? row + 1 : image.height - 1) * row_step;
      left = (column < image.width ? column : image.width - 1) * image.channels;
      right = (column + 1 < image.width ? column + 1 : image.width - 1) * image.channels;
    }
    AVIDA_HD AVIDA_INLINE void set_luma(int row, int at_left, int at_right) const {
      *reinterpret_cast<Two*>(luma +
                              8 * row) = {{static_cast<short>(at_left - 128), static_cast<short>(at_right - 128)}};
    }
  };

  AVIDA_HD AVIDA_INLINE static void load_gray(const Params& params, int top, int left, Shared& shared, int thread) {
    const Position at(params, top, left, shared, thread);
    at.set_luma(0, at.upper[at.left], at.upper[at.right]);
    at.set_luma(1, at.lower[at.left], at.lower[at.right]);
  }

  struct Sample {
    int luma, cb, cr;
    AVIDA_HD AVIDA_INLINE Sample(int red, int green, int blue) {
      constexpr int middle = (128 << 16) + (1 << 15) - 1;
      luma = (19595 * red + 38470 * green + 7471 * blue + (1 << 15)) >> 16;
      cb = (-11059 * red - 21709 * green + 32768 * blue + middle) >> 16;
      cr = (32768 * red - 27439 * green - 5329 * blue + middle) >> 16;
    }
  };
  // Two neighbours of a row.
  struct Samples {
    unsigned words[2];
    AVIDA_HD AVIDA_INLINE Samples(const unsigned char* row, int left, int right) {
      if (right == left + 3) {
        load_words<1, 2>(row + left, words);
        return;
      }
      words[0] = words[1] = 0;
      for (int c = 0; c < 3; c++) {
        add_part<1>(words, c, row[left + c]);
        add_part<1>(words, 3 + c, row[right + c]);
      }
    }
    AVIDA_HD AVIDA_INLINE Sample operator[](int k) const {
      auto channel = [&](int c) { return static_cast<int>(part_of<1>(words, 3 * k + c)); };
      return {channel(0), channel(1), channel(2)};
    }
  };
  AVIDA_HD AVIDA_INLINE static void load_colors(const Params& params, int top, int left, Shared& shared, int thread) {
    const Position at(params, top, left, shared, thread);
    const Samples upper(at.upper, at.left, at.right), lower(at.lower, at.left, at.right);
    const Sample a = upper[0], b = upper[1], c = lower[0], d = lower[1];
    at.set_luma(0, a.luma, b.luma);
    at.set_luma(1, c.luma, d.luma);
    const int y = at.y, x = at.x, rounding = 1 + x % 2;
    const int blue = (a.cb + b.cb + c.cb + d.cb + rounding) >> 2;
    const int red = (a.cr + b.cr + c.cr + d.cr + rounding) >> 2;
    // The last row is repeated below the image.
    const int rows = params.image.chroma_height() - top / 2;
    if (y >= rows) return;
    short* to = &shared.at[kLumaBlocks + x / 8][x % 8];
    for (int row = y; row < (y == rows - 1 ? kHeight / 2 : y + 1); row++) {
      to[8 * row] = static_cast<short>(blue - 128);
      to[8 * row + kAcross / 2 * kBlockStep] = static_cast<short>(red - 128);
    }
  }
};

// Pixels of the planes, as JpegPixels<2, 2> makes them. An item is 16 pixels of two rows, those of one row of chroma.
// Rows of the output begin at words, and chroma has more than two columns.
struct JpegColors {
  static constexpr const char* header = "ops/noise/jpeg_compression_distortion.h";
  static constexpr int kPixels = 16, kSamples = kPixels / 2, kBlocks = 3;
  struct Params {
    unsigned char* out;
    JpegPlanes image;
  };

  AVIDA_HD AVIDA_INLINE static bool takes(const JpegPlanes& image) {
    return image.width * 3 % 4 == 0 && image.chroma_width() > 2;
  }
  AVIDA_HD AVIDA_INLINE static int items_per_row(int width) { return (width + kPixels - 1) / kPixels; }

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const JpegPlanes& image = params.image;
    const int across = items_per_row(image.width), row = static_cast<int>(item) / across;
    const int first = static_cast<int>(item) - row * across, last_row = image.chroma_height() - 1;
    const Chroma near[2] = {Chroma(image, 1, row, first), Chroma(image, 2, row, first)};
    AVIDA_DO_NOT_UNROLL
    for (int below = 0; below < 2 && 2 * row + below < image.height; below++) {
      const int other = below ? (row < last_row ? row + 1 : row) : row > 0 ? row - 1 : row;
      int mixed[2][kSamples + 2];
      AVIDA_UNROLL
      for (int c = 0; c < 2; c++) {
        const Chroma far(image, 1 + c, other, first);
        AVIDA_UNROLL
        for (int k = 0; k < kSamples + 2; k++) mixed[c][k] = 3 * near[c].at(k) + far.at(k);
      }
      const long y = 2 * row + below;
      const AlignedWords<4> lights = load_aligned<4>(image.plane(0) + y * image.step() + kPixels * first);
      int channels[3 * kPixels];
      AVIDA_UNROLL
      for (int x = 0; x < kPixels; x++) {
        const int here = 1 + x / 2, next = x % 2 ? here + 1 : here - 1, round = x % 2 ? 7 : 8;
        const int blue = (3 * mixed[0][here] + mixed[0][next] + round) >> 4;
        const int red = (3 * mixed[1][here] + mixed[1][next] + round) >> 4;
        set_pixel(static_cast<int>(part_of<1>(lights.at, x)), blue, red, channels + 3 * x);
      }
      unsigned words[3 * kPixels / 4];
      AVIDA_UNROLL
      for (int k = 0; k < 3 * kPixels / 4; k++)
        words[k] = saturated_bytes(channels[4 * k], channels[4 * k + 1], channels[4 * k + 2], channels[4 * k + 3]);
      unsigned char* out = params.out + (y * image.width + kPixels * first) * 3;
      const int left = 3 * (image.width - kPixels * first);
      if (left >= 3 * kPixels)
        store_words<4>(out, words);
      else
        store_some_bytes(out, words, left);
    }
  }

 private:
  // Samples of a row, from the one before the first of the item to the one after its last. Beyond the image the last
  // ones are repeated.
  struct Chroma {
    unsigned words[2], before, after;
    AVIDA_HD AVIDA_INLINE Chroma(const JpegPlanes& image, int plane, int row, int item) {
      const unsigned char* from = image.plane(plane) + static_cast<long>(row) * (image.step() / 2);
      const int first = item * kSamples, last = image.chroma_width() - 1;
      const AlignedWords<2> read = load_aligned<2>(from + first);
      words[0] = read.at[0], words[1] = read.at[1];
      before = from[first > 0 ? first - 1 : 0];
      after = from[first + kSamples < last ? first + kSamples : last];
      if (first + kSamples <= last + 1) return;
      for (int k = 0; k < kSamples; k++)
        if (first + k > last) {
          words[k / 4] &= ~(0xffu << k % 4 * 8);
          words[k / 4] |= after << k % 4 * 8;
        }
    }
    AVIDA_HD AVIDA_INLINE int at(int k) const {
      return static_cast<int>(k == 0 ? before : k > kSamples ? after : part_of<1>(words, k - 1));
    }
  };

  // Red, green and blue before saturation. The factors are 1.772, 0.34414, 0.71414 and 1.402 in 16 bits of fraction.
  AVIDA_HD AVIDA_INLINE static void set_pixel(int light, int blue, int red, int* to) {
    constexpr int of_red = 91881, of_blue = 116130, green_of_blue = 22554, green_of_red = 46802, half = 1 << 15;
    to[0] = light + ((of_red * red + (half - of_red * 128)) >> 16);
    to[1] =
        light + ((-green_of_blue * blue - green_of_red * red + (half + (green_of_blue + green_of_red) * 128)) >> 16);
    to[2] = light + ((of_blue * blue + (half - of_blue * 128)) >> 16);
  }
};

}  // namespace avida::ops
