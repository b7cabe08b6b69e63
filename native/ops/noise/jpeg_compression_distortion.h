// The body of jpeg_compression_distortion: the losses of JPEG files, in the integer arithmetic of libjpeg-turbo.
// Pixels become planes whose blocks have been quantized, and planes become pixels again. Read by NVRTC too: no std
// headers.
#pragma once
#include "device/divide.h"
#include "loops/decoding/jpeg_item.h"

namespace avida::ops {

// An RGB image and its planes: luma, and chroma of half the width and height. All are padded to complete tiles. A gray
// image needs no planes.
struct JpegPlanes {
  static constexpr int kTileHeight = 32, kTileWidth = 128;
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

// Division by the steps of quantization. DCT results are scaled by 8. A division is a multiplication by the inverse of
// the divisor, in 32 bits of fraction and slightly too large, so that halves are rounded away from 0.
struct Quantization {
  struct Step {
    int inverse, step;
  };
  Step steps[64];
};

// Each item is a tile of all planes: DCT, quantization and IDCT of its blocks. Two blocks are a pair, which share
// words: neighbours of luma, or those of both chroma planes at the same place.
struct JpegLosses {
  static constexpr const char* header = "ops/noise/jpeg_compression_distortion.h";
  static constexpr int kThreads = 128, kPhases = 3, kHeight = JpegPlanes::kTileHeight, kWidth = JpegPlanes::kTileWidth;
  static constexpr int kAcross = kWidth / 16, kLumaPairs = kAcross * kHeight / 8, kPairs = kLumaPairs * 3 / 2;
  static constexpr int kPairStep =
      2 * (64 + 8);  // padded, so that columns of neighbouring pairs lie in different banks of shared memory
  struct Params {
    unsigned char* gray;  // the result of gray images
    const unsigned char* in;
    JpegPlanes image;
    unsigned char* plane[3];
    Divisor tiles_across;
    const Quantization* tables;  // of luma and of the other planes
  };
  struct Shared {
    alignas(16) short at[kPairs][kPairStep];  // numbers of the two blocks take turns
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const JpegPlanes& image = params.image;
    const unsigned row_of_tiles = params.tiles_across(static_cast<unsigned>(item));
    const int top = static_cast<int>(row_of_tiles) * kHeight;
    const int left = static_cast<int>(params.tiles_across.rest(static_cast<unsigned>(item), row_of_tiles)) * kWidth;
    if constexpr (phase == 0) {
      const TwoRows rows(top, left, thread);
      if (rows.row >= image.height || rows.x >= image.width) return;
      image.channels == 1 ? rows.make_gray(params, shared) : rows.make_colors(params, shared);
    } else {
      // Eight threads make the columns of a pair, then its rows.
      const int i = thread % 8, across = thread / 8 % kAcross, down = thread / 8 / kAcross * 8;
      const int x = left + 16 * across;
      if (x >= image.width) return;
      AVIDA_DO_NOT_UNROLL
      for (int row = down; row < kHeight && top + row < image.height; row += kThreads / kAcross)
        make<phase, 0>(params, shared.at[row / 8 * kAcross + across], top + row, x, i);
      if (image.channels == 3 && top + 2 * down < image.height)
        make<phase, 1>(params, shared.at[kLumaPairs + down / 8 * kAcross + across], top / 2 + down, x, i);
    }
  }

 private:
  // What the DCT along rows leaves in columns 0 and 4 beside their numbers.
  static constexpr int kOffset = 4096;

  // Two rows of 16 pixels, as a thread reads them.
  struct TwoRows {
    int y, across;  // the place in the tile
    int row, x;

    AVIDA_HD AVIDA_INLINE TwoRows(int top, int left, int thread)
        : y(2 * (thread / kAcross)), across(thread % kAcross), row(top + y), x(left + 16 * across) {
      static_assert(kAcross * kHeight / 2 == kThreads);
    }
    AVIDA_HD AVIDA_INLINE short* luma(Shared& shared, int below) const {
      return shared.at[y / 8 * kAcross + across] + (y % 8 + below) * 16;
    }
    AVIDA_HD AVIDA_INLINE short* chroma(Shared& shared) const {
      return shared.at[kLumaPairs + y / 16 * kAcross + across] + y / 2 % 8 * 16;
    }

    AVIDA_HD AVIDA_INLINE void make_gray(const Params& params, Shared& shared) const {
      AVIDA_UNROLL
      for (int below = 0; below < 2; below++) {
        unsigned words[4], both[8];
        load<1>(params, below, words);
        AVIDA_UNROLL
        for (unsigned k = 0; k < 8; k++)
          both[k] = pick_bytes(words[k / 4], words[2 + k / 4], (4 + k % 4) << 8 | k % 4) & 0xff00ff;
        store_cosines(both, luma(shared, below));
      }
      repeat_last(params.image, shared);
    }

    AVIDA_HD AVIDA_INLINE void make_colors(const Params& params, Shared& shared) const {
      unsigned both[8], chroma_sums[8] = {};
      AVIDA_UNROLL
      for (int below = 0; below < 2; below++) {
        unsigned words[12], lights[16];
        load<3>(params, below, words);
        AVIDA_UNROLL
        for (int k = 0; k < 16; k++) {
          const Pixel pixel(words, k);
          lights[k] = pixel.weighted(19595, 38470, 7471, 1u << 15);
          // 255 - Cb and 255 - Cr: in this form all factors fit into 16 bits.
          const int cb = pixel.weighted(11059, 21709, -32768, (128 << 16) - (1 << 15));
          const int cr = pixel.weighted(-32768, 27439, 5329, (128 << 16) - (1 << 15));
          chroma_sums[k / 2] += upper_halves(static_cast<unsigned>(cb), static_cast<unsigned>(cr));
        }
        AVIDA_UNROLL
        for (int k = 0; k < 8; k++) both[k] = upper_halves(lights[k], lights[8 + k]);
        store_cosines(both, luma(shared, below));
      }
      AVIDA_UNROLL
      for (unsigned k = 0; k < 8; k++) both[k] = (in_both_halves(4 * 255 + 1 + k % 2) - chroma_sums[k]) >> 2 & 0xff00ff;
      store_cosines(both, chroma(shared));
      repeat_last(params.image, shared);
    }

   private:
    // Beyond the image its last pixels are repeated.
    template <int channels>
    AVIDA_HD AVIDA_INLINE void load(const Params& params, int below, unsigned (&words)[4 * channels]) const {
      const int last_row = params.image.height - 1, last = params.image.width - 1;
      const long step = long{params.image.width} * channels;
      const unsigned char* from = params.in + (row + below < last_row ? row + below : last_row) * step;
      if (x + 16 <= params.image.width) return load_words(from + x * channels, words);
      AVIDA_UNROLL
      for (unsigned& word : words) word = 0;
      AVIDA_UNROLL
      for (int k = 0; k < 16 * channels; k++) {
        const int column = x + k / channels;
        add_part<1>(words, k, from[(column < last ? column : last) * channels + k % channels]);
      }
    }
    // Below the image the last rows are repeated, to the end of a block.
    AVIDA_HD AVIDA_INLINE void repeat_last(const JpegPlanes& image, Shared& shared) const {
      if (row + 2 < image.height) return;
      for (int below = 2; y % 8 + below < 8; below++) copy_row(luma(shared, 1), luma(shared, below));
      if (image.channels == 1) return;
      for (int below = 1; y / 2 % 8 + below < 8; below++) copy_row(chroma(shared), chroma(shared) + 16 * below);
    }
    AVIDA_HD AVIDA_INLINE static void copy_row(const short* from, short* to) {
      store_aligned(to, load_aligned<4>(from));
      store_aligned(to + 8, load_aligned<4>(from + 8));
    }
  };

  // Pixel k of a row of words: in the lower three bytes of a word, or in the upper three.
  struct Pixel {
    unsigned word;
    bool is_upper;

    AVIDA_HD AVIDA_INLINE Pixel(const unsigned (&words)[12], int k) : is_upper(k % 4 == 3) {
      const int first = k * 3 / 4;
      word = k % 4 == 1   ? pick_bytes(words[first], words[first + 1], 0x6543)
             : k % 4 == 2 ? pick_bytes(words[first], words[first + 1], 0x5432)
                          : words[first];
    }
    // The sum of the channels with these weights, and a start.
    template <class T>
    AVIDA_HD AVIDA_INLINE T weighted(int red, int green, int blue, T start) const {
      const auto halves = [](int low, int high) {
        return (static_cast<unsigned>(low) & 0xffff) | static_cast<unsigned>(high) << 16;
      };
      return is_upper ? dot_high(halves(green, blue), word, dot_low(halves(0, red), word, start))
                      : dot_high(halves(blue, 0), word, dot_low(halves(red, green), word, start));
    }
  };

  AVIDA_HD AVIDA_INLINE static constexpr unsigned in_both_halves(unsigned number) { return number << 16 | number; }
  AVIDA_HD AVIDA_INLINE static unsigned upper_halves(unsigned a, unsigned b) { return pick_bytes(a, b, 0x7632); }

  // The DCT along a row of both blocks, whose bytes are not centred on 0. Both are added and subtracted at once: the
  // lower halves of words are kept above 0. The results of multiplications are in the upper halves of words.
  AVIDA_HD AVIDA_INLINE static void store_cosines(const unsigned (&x)[8], short* to) {
    const unsigned s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
    const unsigned outer = s0 + s3, inner = s1 + s2;
    constexpr int kMore = 1024;
    const unsigned parts[] = {x[3] - x[4] + kMore, x[2] - x[5] + kMore, x[1] - x[6] + kMore,
                              x[0] - x[7] + kMore, s0 - s3 + kMore,     s1 - s2 + kMore};
    unsigned first[6], second[6];
    mix_row<kMore>(parts, [](unsigned word) { return word & 0xffff; }, first);
    mix_row<0>(parts, [](unsigned word) { return static_cast<unsigned>(static_cast<int>(word) >> 16); }, second);
    AlignedWords<4> made[2];
    made[0].at[0] = (outer + inner) << kKeptBits;
    made[1].at[0] = (outer - inner + in_both_halves(kOffset >> kKeptBits)) << kKeptBits;
    AVIDA_UNROLL
    for (int k = 0; k < 6; k++) made[k / 3].at[1 + k % 3] = upper_halves(first[k], second[k]);
    store_aligned(to, made[0]);
    store_aligned(to + 8, made[1]);
  }
  // Columns 1, 2, 3, 5, 6 and 7 of a block. `more` is what its numbers are too large by.
  template <int more, class Half>
  AVIDA_HD AVIDA_INLINE static void mix_row(const unsigned (&parts)[6], const Half& half, unsigned (&out)[6]) {
    constexpr int bits = kCosineBits - kKeptBits, scale = 1 << (16 - bits);
    unsigned w = half(parts[0]), x = half(parts[1]), y = half(parts[2]), z = half(parts[3]);
    const unsigned two = half(parts[4]), six = half(parts[5]);
    constexpr Start start(more, scale);
    mix_odd<scale>(w, x, y, z, start.w, start.x);
    out[0] = z + (start.z - start.x);
    out[1] = add_product((4433 + 6270) * scale, two, add_product(4433 * scale, six, start.two));
    out[2] = y + (start.y - start.w);
    out[3] = x;
    out[4] = add_product(4433 * scale, two, add_product((4433 - 15137) * scale, six, start.six));
    out[5] = w;
  }
  // Rounds, and takes away what the numbers are too large by.
  struct Start {
    unsigned w, x, y, z, two, six;
    AVIDA_HD constexpr Start(int more, int scale) : w(0), x(0), y(0), z(0), two(0), six(0) {
      const auto all = static_cast<unsigned>(more);
      unsigned sums[] = {all, all, all, all};
      mix_odd(sums[0], sums[1], sums[2], sums[3], 0, 0);
      const auto start = [scale](unsigned sum) { return (1u << 15) - sum * static_cast<unsigned>(scale); };
      w = start(sums[0]);
      x = start(sums[1]);
      y = start(sums[2]);
      z = start(sums[3]);
      two = start((2 * 4433 + 6270) * all);
      six = start(static_cast<unsigned>(2 * 4433 - 15137) * all);
    }
  };

  // A column or a row of a pair of blocks, whose first row is `row`.
  template <int phase, int table>
  AVIDA_HD AVIDA_INLINE static void make(const Params& params, short* pair, int row, int x, int i) {
    if constexpr (phase == 1)
      lose_detail(pair + 2 * i, params.tables[table].steps + i, i % 4 == 0 ? -8 * kOffset : 0);
    else
      store_samples<table == 0>(params, pair + 16 * i, row + i, x);
  }

  // A column of both blocks: DCT, quantization and IDCT.
  AVIDA_HD AVIDA_INLINE static void lose_detail(short* column, const Quantization::Step* steps, int offset) {
    unsigned made[2][8];
    AVIDA_UNROLL
    for (int block = 0; block < 2; block++) {
      AVIDA_UNROLL
      for (int k = 0; k < 8; k++) made[block][k] = static_cast<unsigned>(column[16 * k + block]);
      cosines(made[block], static_cast<unsigned>(offset));
      AVIDA_UNROLL
      for (int k = 0; k < 8; k++) made[block][k] = quantized(made[block][k], load_step(steps + 8 * k));
      constexpr int bits = kCosineBits - kKeptBits;
      inverse_sums<1 << (16 - bits)>(made[block], 1u << 15);
    }
    AVIDA_UNROLL
    for (int k = 0; k < 8; k++) store_aligned(column + 16 * k, AlignedWords<1>{{upper_halves(made[0][k], made[1][k])}});
  }
  AVIDA_HD AVIDA_INLINE static Quantization::Step load_step(const Quantization::Step* step) {
    return __builtin_bit_cast(Quantization::Step, read_only(reinterpret_cast<const unsigned long*>(step)));
  }
  AVIDA_HD AVIDA_INLINE static unsigned quantized(unsigned x, const Quantization::Step& step) {
    const long steps = (long{static_cast<int>(x)} * step.inverse + (1l << 31)) >> 32;
    return static_cast<unsigned>(static_cast<int>(steps) * step.step);
  }

  // A row of both blocks: IDCT.
  template <bool luma>
  AVIDA_HD AVIDA_INLINE static void store_samples(const Params& params, const short* from, int row, int x) {
    const JpegPlanes& image = params.image;
    const AlignedWords<4> read[] = {load_aligned<4>(from), load_aligned<4>(from + 8)};
    unsigned words[4];
    AVIDA_UNROLL
    for (int block = 0; block < 2; block++) {
      unsigned y[8];
      AVIDA_UNROLL
      for (int k = 0; k < 8; k++) {
        const unsigned both = read[k / 4].at[k % 4];
        y[k] = static_cast<unsigned>(block ? static_cast<int>(both) >> 16 : static_cast<short>(both));
      }
      constexpr int bits = kCosineBits + kKeptBits + 3;
      inverse_sums(y, (128u << bits) + (1u << (bits - 1)));
      const auto sample = [&](int k) { return static_cast<int>(y[k]) >> bits; };
      words[2 * block] = saturated_bytes(sample(0), sample(1), sample(2), sample(3));
      words[2 * block + 1] = saturated_bytes(sample(4), sample(5), sample(6), sample(7));
    }
    if (image.channels == 1) {
      const int count = image.width - x;
      if (row < image.height)
        store_some_bytes(params.gray + long{row} * image.width + x, words, count < 16 ? count : 16);
    } else if (luma) {
      store_words<16>(params.plane[0] + long{row} * image.step() + x, words);
    } else {
      const long at = long{row} * (image.step() / 2) + x / 2;
      const unsigned cb[] = {words[0], words[1]}, cr[] = {words[2], words[3]};
      store_words<8>(params.plane[1] + at, cb);
      store_words<8>(params.plane[2] + at, cr);
    }
  }

  // The DCT along a column, the counterpart of inverse_cosines().
  AVIDA_HD AVIDA_INLINE static void cosines(unsigned (&x)[8], unsigned offset) {
    constexpr int bits = kCosineBits + kKeptBits;
    constexpr unsigned half = 1u << (bits - 1), kept_half = 1u << (kKeptBits - 1);
    const auto shifted = [](unsigned number, int by) { return static_cast<unsigned>(static_cast<int>(number) >> by); };
    const unsigned s0 = x[0] + x[7], s1 = x[1] + x[6], s2 = x[2] + x[5], s3 = x[3] + x[4];
    unsigned d0 = x[0] - x[7], d1 = x[1] - x[6], d2 = x[2] - x[5], d3 = x[3] - x[4];
    mix_odd(d3, d2, d1, d0, half, half);
    const unsigned outer = s0 + s3, inner = s1 + s2, two = s0 - s3, six = s1 - s2;
    x[0] = shifted(outer + inner + (offset + kept_half), kKeptBits);
    x[1] = shifted(d0, bits);
    x[2] = shifted(add_product(4433 + 6270, two, add_product(4433, six, half)), bits);
    x[3] = shifted(d1, bits);
    x[4] = shifted(outer - inner + kept_half, kKeptBits);
    x[5] = shifted(d2, bits);
    x[6] = shifted(add_product(4433, two, add_product(4433 - 15137, six, half)), bits);
    x[7] = shifted(d3, bits);
  }
};

}  // namespace avida::ops
