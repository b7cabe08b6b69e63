// GPU bodies for IDCT, upsampling and colour conversion of JPEG images, with the bits of libjpeg-turbo.
//
// Read by NVRTC too: no std headers.
#pragma once
#include "device/convert.h"
#include "device/divide.h"
#include "device/words.h"

namespace avida {

constexpr int kCosineBits = 13, kKeptBits = 2;  // of fraction: of the factors, and of what the first axis hands on

// The odd part of the eight-point DCT and IDCT by Loeffler, Ligtenberg and Moschytz; the factors are sums of cosines.
// All is times `scale`; the starts are added to w and y, and to x and z. Numbers are signed, modulo 2^32.
template <int scale = 1>
AVIDA_HD AVIDA_INLINE constexpr void mix_odd(unsigned& w, unsigned& x, unsigned& y, unsigned& z, unsigned start_wy,
                                             unsigned start_xz) {
  const auto add = [](int factor, unsigned number, unsigned sum) { return add_product(factor * scale, number, sum); };
  const unsigned wy = w + y, xz = x + z;
  const unsigned of_wy = add(9633 - 16069, wy, add(9633, xz, start_wy));
  const unsigned of_xz = add(9633, wy, add(9633 - 3196, xz, start_xz));
  const unsigned mixed_w = add(2446 - 7373, w, add(-7373, z, of_wy));
  const unsigned mixed_x = add(16819 - 20995, x, add(-20995, y, of_xz));
  y = add(25172 - 20995, y, add(-20995, x, of_wy));
  z = add(12299 - 7373, z, add(-7373, w, of_xz));
  w = mixed_w;
  x = mixed_x;
}

// The IDCT along one axis, with the fraction. All is times `scale`; `start` is added.
template <int scale = 1>
AVIDA_HD AVIDA_INLINE void inverse_sums(unsigned (&x)[8], unsigned start) {
  const auto add = [](int factor, unsigned number, unsigned sum) { return add_product(factor * scale, number, sum); };
  const unsigned sum = add(1 << kCosineBits, x[0] + x[4], start),
                 difference = add(1 << kCosineBits, x[0] - x[4], start);
  const unsigned a = add(4433, x[2], add(4433 - 15137, x[6], 0)), b = add(4433 + 6270, x[2], add(4433, x[6], 0));
  unsigned seven = x[7], five = x[5], three = x[3], one = x[1];
  mix_odd<scale>(seven, five, three, one, 0, 0);
  x[0] = sum_of(sum, b, one);
  x[7] = sum_of(sum, b, -one);
  x[1] = sum_of(difference, a, three);
  x[6] = sum_of(difference, a, -three);
  x[2] = sum_of(difference, -a, five);
  x[5] = sum_of(difference, -a, -five);
  x[3] = sum_of(sum, -b, seven);
  x[4] = sum_of(sum, -b, -seven);
}

// The IDCT along the first axis or the second.
template <bool first, int step>
AVIDA_HD AVIDA_INLINE void inverse_cosines(int* at) {
  constexpr int shift = first ? kCosineBits - kKeptBits : kCosineBits + kKeptBits + 3;
  unsigned x[8];
  AVIDA_UNROLL
  for (int k = 0; k < 8; k++) x[k] = static_cast<unsigned>(at[k * step]);
  inverse_sums(x, 1u << (shift - 1));
  AVIDA_UNROLL
  for (int k = 0; k < 8; k++) at[k * step] = static_cast<int>(x[k]) >> shift;
}

// An item is a block of 8x8 samples of a plane, made from its coefficients.
struct JpegBlocks {
  static constexpr const char* header = "loops/decoding/jpeg_item.h";
  static constexpr bool kUsual = true;
  struct Params {
    unsigned char* out;         // 8 bytes aligned
    const short* coefficients;  // of one block after the other, in the order of files, 16 bytes aligned
    const int* factors;         // of quantization, in the same order; null where they are in the coefficients
    int columns;                // blocks in a row
    int* failed;                // becomes 1 where coefficients are so large that libjpeg's 16 bits overflow
  };
  // The largest sum of a block's magnitudes for which libjpeg's 16 bits cannot overflow.
  static constexpr int kMostSum = 5900;

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const int row = static_cast<int>(item) / params.columns, column = static_cast<int>(item) - row * params.columns;
    struct alignas(16) Row {
      short at[8];
    };
    const Row* rows = reinterpret_cast<const Row*>(params.coefficients + item * 64);
    int block[64], sum = 0;
    AVIDA_UNROLL
    for (int y = 0; y < 8; y++) {
      const Row read = rows[y];
      AVIDA_UNROLL
      for (int x = 0; x < 8; x++) {
        int value = read.at[x];
        if (params.factors) value = saturate<short>(value * read_only(params.factors + 8 * y + x));
        block[place_of(8 * y + x)] = value;
        sum += value < 0 ? -value : value;
      }
    }
    if (sum > kMostSum) {  // they would overflow here too
      *params.failed = 1;
      return;
    }
    for (int x = 0; x < 8; x++) inverse_cosines<true, 8>(block + x);
    for (int y = 0; y < 8; y++) inverse_cosines<false, 1>(block + 8 * y);
    unsigned char* out = params.out + (static_cast<long>(row) * 8 * params.columns + column) * 8;
    for (int y = 0; y < 8; y++) {
      unsigned char made[8];
      for (int x = 0; x < 8; x++) made[x] = saturate<unsigned char>(block[8 * y + x] + 128);
      store_bytes<8>(out + static_cast<long>(y) * 8 * params.columns, made);
    }
  }

 private:
  // The zigzag order of files.
  AVIDA_HD static constexpr int place_of(int k) {
    constexpr unsigned char zigzag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                          12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                          35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                          58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};
    return zigzag[k];
  }
};

// The planes of an image, and the rectangle of it that is made.
struct JpegPicture {
  unsigned char* out;             // of the first pixel
  long down, right;               // from a pixel to those below and beside it, in bytes: the result may be turned
  const unsigned char* plane[3];  // Y, Cb, Cr
  int stride[3];                  // of rows, in bytes
  int chroma_width, chroma_height;
  int y, x, height, width;  // the rectangle
  bool blue_first;
};

// An item is some neighbouring pixels of a row of the rectangle, of `channels` bytes each.
template <int channels>
struct JpegPiece {
  static constexpr int kPixels = 4;
  unsigned char* row;  // the first pixel of the row, in the result
  long right;
  int y, first, width;  // the row, and the first pixel of the item in it, which may be below 0

  // Items begin at words of the output: the first and the last of a row may be short.
  AVIDA_HD AVIDA_INLINE static int items_per_row(int width) { return (width + 2 * kPixels - 2) / kPixels; }

  AVIDA_HD AVIDA_INLINE JpegPiece(const JpegPicture& picture, long item) : right(picture.right), width(picture.width) {
    const int per_row = items_per_row(width), number = static_cast<int>(item) / per_row;
    y = picture.y + number;
    row = picture.out + number * picture.down;
    first = (static_cast<int>(item) - number * per_row) * kPixels - lead_of<channels, 4, kPixels>(row);
  }
  AVIDA_HD AVIDA_INLINE bool has(int i) const { return first + i >= 0 && first + i < width; }
  AVIDA_HD AVIDA_INLINE bool is_whole() const { return first >= 0 && first + kPixels <= width; }

  AVIDA_HD AVIDA_INLINE void load_luma(const JpegPicture& picture, unsigned char (&lights)[kPixels]) const {
    const unsigned char* luma = picture.plane[0] + static_cast<long>(y) * picture.stride[0] + picture.x + first;
    if (is_whole()) return load_bytes(luma, lights);
    for (int i = 0; i < kPixels; i++) lights[i] = has(i) ? luma[i] : 0;
  }
  AVIDA_HD AVIDA_INLINE void store(const unsigned char (&made)[channels * kPixels]) const {
    if (is_whole() && right == channels) return store_bytes<4>(row + channels * first, made);
    for (int i = 0; i < kPixels; i++)
      for (int c = 0; c < channels; c++)
        if (has(i)) row[(first + i) * right + c] = made[channels * i + c];
  }
};

// Pixels that are gray, with one channel or three.
template <int channels>
struct JpegGray {
  static constexpr const char* header = "loops/decoding/jpeg_item.h";
  using Params = JpegPicture;
  using Piece = JpegPiece<channels>;

  AVIDA_HD AVIDA_INLINE static int items_per_row(int width) { return Piece::items_per_row(width); }

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const Piece piece(params, item);
    unsigned char lights[Piece::kPixels], made[channels * Piece::kPixels];
    piece.load_luma(params, lights);
    for (int i = 0; i < channels * Piece::kPixels; i++) made[i] = lights[i / channels];
    piece.store(made);
  }
};

// Of colour conversion: 1.402, 1.772, 0.34414 and 0.71414 in 16 bits of fraction.
constexpr int kRed = 91881, kBlue = 116130, kGreenOfBlue = 22554, kGreenOfRed = 46802;

// Upsampling and colour conversion. An item is a JpegPiece. Chroma is subsampled by `columns` and `rows` (1 or 2) and
// interpolated: a pixel is 3/4 of the nearest sample and 1/4 of the next one, along each axis. Chroma planes of one or
// two columns are not interpolated, but repeated.
template <int columns, int rows>
struct JpegPixels {
  static constexpr const char* header = "loops/decoding/jpeg_item.h";
  using Params = JpegPicture;
  using Piece = JpegPiece<3>;
  static constexpr int kPixels = Piece::kPixels;

  AVIDA_HD AVIDA_INLINE static int items_per_row(int width) { return Piece::items_per_row(width); }

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const Piece piece(params, item);
    const int y = piece.y, x = params.x + piece.first;
    unsigned char lights[kPixels];
    piece.load_luma(params, lights);
    int chroma[2][kPixels];
    for (int c = 0; c < 2; c++) interpolate(params, params.plane[1 + c], params.stride[1 + c], y, x, chroma[c]);
    unsigned char made[3 * kPixels];
    for (int i = 0; i < kPixels; i++) {
      const int light = lights[i], blue = chroma[0][i] - 128, red = chroma[1][i] - 128;
      const unsigned char r = clamped(light + ((kRed * red + kHalf) >> 16));
      const unsigned char b = clamped(light + ((kBlue * blue + kHalf) >> 16));
      made[3 * i + 1] = clamped(light + ((-kGreenOfBlue * blue - kGreenOfRed * red + kHalf) >> 16));
      made[3 * i] = params.blue_first ? b : r;
      made[3 * i + 2] = params.blue_first ? r : b;
    }
    piece.store(made);
  }

 private:
  static constexpr int kHalf = 1 << 15;

  AVIDA_HD AVIDA_INLINE static unsigned char clamped(int value) { return saturate<unsigned char>(value); }

  AVIDA_HD AVIDA_INLINE static void interpolate(const Params& params, const unsigned char* plane, int stride, int y,
                                                int x, int (&made)[kPixels]) {
    const int row = y / rows;
    const unsigned char* near = plane + static_cast<long>(row) * stride;
    const unsigned char* far = near;
    if (columns == 2 && params.chroma_width <= 2) {
      for (int i = 0; i < kPixels; i++) made[i] = near[x + i >= 2 && params.chroma_width == 2 ? 1 : 0];
      return;
    }
    if constexpr (rows == 2) {
      const int other = y % 2 ? row + 1 : row - 1;
      if (other >= 0 && other < params.chroma_height) far = plane + static_cast<long>(other) * stride;
    }
    constexpr int read = columns == 1 ? kPixels : kPixels / 2 + 2, before = columns == 1 ? 0 : 1;
    static_assert(read == 4);
    const int begin = (columns == 1 ? x : x >> 1) - before;  // x may be below 0
    unsigned char samples[2]
                         [read];  // of this row and the other one, from the sample before the first that is needed on
    if (begin >= 0 && begin + read <= params.chroma_width) {
      load_bytes(near + begin, samples[0]);
      load_bytes(far + begin, samples[1]);
    } else {
      for (int k = 0; k < read; k++) {
        int column = begin + k;
        column = column < 0 ? 0 : column >= params.chroma_width ? params.chroma_width - 1 : column;
        samples[0][k] = near[column];
        samples[1][k] = far[column];
      }
    }
    int sums[read];
    for (int k = 0; k < read; k++) sums[k] = rows == 1 ? samples[0][k] : 3 * samples[0][k] + samples[1][k];
    if constexpr (columns == 1)
      for (int i = 0; i < kPixels; i++) made[i] = rows == 1 ? sums[i] : (sums[i] + (y % 2 ? 2 : 1)) >> 2;
    else if (x & 1)
      mix<1>(sums, made);
    else
      mix<0>(sums, made);
  }

  // `odd`: whether the first pixel lies in the right half of its sample.
  template <int odd, int read>
  AVIDA_HD AVIDA_INLINE static void mix(const int (&sums)[read], int (&made)[kPixels]) {
    for (int i = 0; i < kPixels; i++) {
      const bool right = (odd + i) % 2;
      const int here = 1 + (odd + i) / 2, sum = 3 * sums[here] + sums[right ? here + 1 : here - 1];
      made[i] = rows == 1 ? (sum + (right ? 2 : 1)) >> 2 : (sum + (right ? 7 : 8)) >> 4;
    }
  }
};

// What JpegPixels<2, 2> makes, faster: an item is 16 pixels of two rows, those of eight samples of chroma. Rows of the
// result are dense, and chroma has more than two columns. Planes and their rows begin at multiples of 8 bytes; luma is
// read to the end of the item, which may be 8 bytes beyond the plane.
struct JpegColors {
  static constexpr const char* header = "loops/decoding/jpeg_item.h";
  static constexpr bool kUsual = true;
  static constexpr int kPixels = 16, kSamples = kPixels / 2, kBlocks = 3;
  struct Params {
    JpegPicture picture;
    Divisor across;  // items in a row
  };

  AVIDA_HD AVIDA_INLINE static bool takes(const JpegPicture& picture) {
    return picture.right == 3 && picture.chroma_width > 2;
  }
  AVIDA_HD AVIDA_INLINE static Params params(const JpegPicture& picture) {
    return {picture, Divisor::of((picture.x + picture.width - 1) / kPixels - picture.x / kPixels + 1)};
  }
  AVIDA_HD AVIDA_INLINE static long items(const Params& params) {
    const JpegPicture& picture = params.picture;
    if (picture.height == 0 || picture.width == 0) return 0;
    return long{params.across.by} * ((picture.y + picture.height - 1) / 2 - picture.y / 2 + 1);
  }

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const JpegPicture& picture = params.picture;
    const unsigned whole = params.across(static_cast<unsigned>(item));
    const int row = picture.y / 2 + static_cast<int>(whole), stride = picture.stride[1];
    const int first =
        kSamples * (picture.x / kPixels + static_cast<int>(params.across.rest(static_cast<unsigned>(item), whole)));
    const Edges edges(first, picture.chroma_width - first);
    const long at = long{row} * stride + first;
    const bool blue_first = picture.blue_first;
    const Factors factors(blue_first);
    const unsigned char *one = picture.plane[blue_first ? 1 : 2] + at, *two = picture.plane[blue_first ? 2 : 1] + at;
    const Chroma near[2] = {Chroma(one, edges), Chroma(two, edges)};
    const unsigned char* luma = picture.plane[0] + 2 * (long{row} * picture.stride[0] + first);
    const int begin = picture.x - 2 * first, end = begin + picture.width;  // of the rectangle, in pixels of the item
    unsigned char* out = picture.out + (2 * row - picture.y) * picture.down - 3 * begin;
    AVIDA_UNROLL
    for (int below = 0; below < 2; below++, luma += picture.stride[0], out += picture.down) {
      const int y = 2 * row + below - picture.y;
      if (y < 0 || y >= picture.height) continue;
      const long other = below ? (row + 1 < picture.chroma_height ? stride : 0) : row > 0 ? -stride : 0;
      unsigned chroma[2][kPixels];
      upsample(near[0], Chroma(one + other, edges), chroma[0]);
      upsample(near[1], Chroma(two + other, edges), chroma[1]);
      const AlignedWords<2> lights[] = {load_aligned<2>(luma), load_aligned<2>(luma + 8)};
      int channels[3 * kPixels];
      AVIDA_UNROLL
      for (unsigned x = 0; x < kPixels; x++)  // lights in 16 bits of fraction, and a half
        factors.set_pixel(pick_bytes(lights[x / 8].at[x / 4 % 2], 1 << 15, 0x4054 | x % 4 << 8), chroma[0][x],
                          chroma[1][x], channels + 3 * x);
      unsigned words[3 * kPixels / 4];
      AVIDA_UNROLL
      for (int k = 0; k < 3 * kPixels / 4; k++)
        words[k] = saturated_bytes(channels[4 * k], channels[4 * k + 1], channels[4 * k + 2], channels[4 * k + 3]);
      store_bytes_together(out, words, 3 * begin, 3 * end);
    }
  }

 private:
  // Beyond the edges of the image its samples are repeated: the padding of planes contains others.
  struct Edges {
    bool is_first, is_last;
    unsigned order;  // of the samples
    AVIDA_HD AVIDA_INLINE Edges(int first, int samples)
        : is_first(first == 0),
          is_last(samples <= kSamples),
          order(0x76543210u - (samples < kSamples ? 1u << 4 * samples : 0)) {}
  };

  // Samples of a row, from the one before the first of the item to the one after its last.
  struct Chroma {
    unsigned before, words[2], after;
    AVIDA_HD AVIDA_INLINE Chroma(const unsigned char* from, const Edges& edges) {
      const AlignedWords<2> read = load_aligned<2>(from);
      words[0] = pick_bytes(read.at[0], read.at[1], edges.order);
      words[1] = pick_bytes(read.at[0], read.at[1], edges.order >> 16);
      before = edges.is_first ? read.at[0] & 0xff : read_only(from - 1);
      after = edges.is_last ? words[1] >> 24 : read_only(from + kSamples);
    }
    AVIDA_HD AVIDA_INLINE unsigned at(unsigned k) const {
      return k == 0 ? before : k == kSamples + 1 ? after : pick_bytes(words[(k - 1) / 4], 0, 0x4440 | (k - 1) % 4);
    }
  };

  // 3/4 of the nearest sample and 1/4 of the next one, along each axis, less 128.
  AVIDA_HD AVIDA_INLINE static void upsample(const Chroma& near, const Chroma& far, unsigned (&out)[kPixels]) {
    unsigned mixed[kSamples + 2];
    AVIDA_UNROLL
    for (unsigned k = 0; k < kSamples + 2; k++) mixed[k] = add_product(3, near.at(k), far.at(k));
    AVIDA_UNROLL
    for (int k = 0; k < kSamples; k++) {
      const unsigned here = add_product(3, mixed[1 + k], 8u - 16 * 128);
      out[2 * k] = shifted(here + mixed[k], 4);
      out[2 * k + 1] = shifted(here + mixed[2 + k] - 1, 4);
    }
  }

  // Of the chroma that the first channel is made of, and of the other one.
  struct Factors {
    int one, green_one, green_two, two;
    AVIDA_HD AVIDA_INLINE explicit Factors(bool blue_first)
        : one(blue_first ? kBlue : kRed),
          green_one(blue_first ? -kGreenOfBlue : -kGreenOfRed),
          green_two(blue_first ? -kGreenOfRed : -kGreenOfBlue),
          two(blue_first ? kRed : kBlue) {}

    // The channels before saturation.
    AVIDA_HD AVIDA_INLINE void set_pixel(unsigned light, unsigned chroma_one, unsigned chroma_two, int* to) const {
      to[0] = static_cast<int>(shifted(add_product(one, chroma_one, light), 16));
      to[1] =
          static_cast<int>(shifted(add_product(green_one, chroma_one, add_product(green_two, chroma_two, light)), 16));
      to[2] = static_cast<int>(shifted(add_product(two, chroma_two, light), 16));
    }
  };

  // Of a signed number.
  AVIDA_HD AVIDA_INLINE static unsigned shifted(unsigned number, int by) {
    return static_cast<unsigned>(static_cast<int>(number) >> by);
  }
};

}  // namespace avida
