// GPU bodies for IDCT, upsampling and colour conversion of JPEG images, with the bits of libjpeg-turbo.
//
// Read by NVRTC too: no std headers.
#pragma once
#include "device/convert.h"
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

// Upsampling and colour conversion. An item is a JpegPiece. Chroma is subsampled by `columns` and `rows` (1 or 2) and
// interpolated: a pixel is 3/4 of the nearest sample and 1/4 of the next one, along each axis. Chroma planes of one or
// two columns are not interpolated, but repeated.
template <int columns, int rows>
struct JpegPixels {
  static constexpr const char* header = "loops/decoding/jpeg_item.h";
  static constexpr bool kUsual = columns == 2 && rows == 2;
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
  // 1.402, 1.772, 0.34414 and 0.71414 in 16 bits of fraction.
  static constexpr int kRed = 91881, kBlue = 116130, kGreenOfBlue = 22554, kGreenOfRed = 46802, kHalf = 1 << 15;

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

}  // namespace avida
