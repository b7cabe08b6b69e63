// The family each_pixel on a GPU: an item is one pixel, or several where they are bytes.
#pragma once
#include "device/byte_floats.h"
#include "device/divide.h"
#include "device/element.h"
#include "device/pixel.h"
#include "device/words.h"

namespace avida {

// To and From are element types, or AnyElement.
template <class Body, class To, class From, class Colors>
struct PixelItem {
  static constexpr const char* header = "loops/pixels/pixel_item.h";
  using Inner = Body;
  struct Params {
    void* out;
    const void* in;
    int to, from;  // the types, where they are known at run time only
    long plane;    // elements from a channel to the next; 0: they lie side by side
    Colors colors;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const long plane = params.plane, line = plane ? divided(item, plane).whole : item,
               x = plane ? item - line * plane : 0;
    const long step = plane ? plane : 1;
    const long from = line * Body::in * step + x, to = line * Body::out * step + x;
    Pixel<Body::in> pixel;
    for (int c = 0; c < Body::in; c++) pixel[c] = load_element<float, From>(params.in, params.from, from + c * step);
    const Pixel<Body::out> made = Body::run(pixel, params.colors);
    for (int c = 0; c < Body::out; c++) store_element<To>(params.out, params.to, to + c * step, made[c]);
  }
};

// Bytes become bytes or floats. An item is kPiece pixels of a line. The first item may start before the line, so that
// stores are aligned.
template <class Body, class To, class Colors>
struct BytePixels {
  static constexpr const char* header = "loops/pixels/pixel_item.h";
  using Inner = Body;
  static constexpr int kPiece = Body::in == 1 && Body::out == 1 ? 16 : 4;
  struct Params {
    To* out;
    const unsigned char* in;
    unsigned pieces;  // of a line
    long pixels;      // of a line
    long plane;       // as above
    Colors colors;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const long plane = params.plane;
    const unsigned line = plane ? static_cast<unsigned>(item) / params.pieces : 0;
    const unsigned piece = static_cast<unsigned>(item) - line * params.pieces;
    To* out = params.out + line * Body::out * plane;
    const unsigned char* in = params.in + line * Body::in * plane;
    const long first = static_cast<long>(piece) * kPiece - (plane ? lead<1>(out) : lead<Body::out>(out));
    auto whole = [&] {
      Pixel<Body::in> pixels[kPiece];
      if (plane)
        for (int c = 0; c < Body::in; c++) load<1>(in + c * plane + first, pixels, c);
      else
        load<Body::in>(in + first * Body::in, pixels, 0);
      Pixel<Body::out> made[kPiece];
      for (int k = 0; k < kPiece; k++) made[k] = Body::run(pixels[k], params.colors);
      if (plane)
        for (int c = 0; c < Body::out; c++) store<1>(out + c * plane + first, made, c);
      else
        store<Body::out>(out + first * Body::out, made, 0);
    };
    make_piece<kPiece>(first, params.pixels, whole, [&](long i) { make_one(params, out, in, i); });
  }

 private:
  template <int channels>
  AVIDA_HD AVIDA_INLINE static int lead(const To* out) {
    constexpr int size = channels * sizeof(To);
    return lead_of<size, kPiece * size % 16 == 0 ? 16 : 4, kPiece>(out);
  }

  AVIDA_HD AVIDA_INLINE static void make_one(const Params& params, To* out, const unsigned char* in, long i) {
    const long step = params.plane ? params.plane : 1;
    Pixel<Body::in> pixel;
    for (int c = 0; c < Body::in; c++) pixel[c] = in[params.plane ? i + c * step : i * Body::in + c];
    const Pixel<Body::out> made = Body::run(pixel, params.colors);
    for (int c = 0; c < Body::out; c++)
      out[params.plane ? i + c * step : i * Body::out + c] = store_channel<To>(made[c]);
  }

  // `channels` channels of each pixel, from channel c.
  template <int channels>
  AVIDA_HD AVIDA_INLINE static void load(const unsigned char* from, Pixel<Body::in>* pixels, int c) {
    unsigned words[kPiece * channels / 4];
    load_words(from, words);
    for (int k = 0; k < kPiece * channels; k++)
      pixels[k / channels][c + k % channels] = float_of_byte(words[k / 4], k % 4);
  }
  template <int channels>
  AVIDA_HD AVIDA_INLINE static void store(To* to, const Pixel<Body::out>* made, int c) {
    auto number = [&](int k) { return made[k / channels][c + k % channels]; };
    constexpr int n = kPiece * channels * sizeof(To) / 4;
    unsigned words[n];
    for (int k = 0; k < n; k++)
      if constexpr (sizeof(To) == 1)
        words[k] = word_of(saturated_byte(number(4 * k)), saturated_byte(number(4 * k + 1)),
                           saturated_byte(number(4 * k + 2)), saturated_byte(number(4 * k + 3)));
      else
        words[k] = __builtin_bit_cast(unsigned, number(k));
    store_words<sizeof(To)>(to, words);
  }
};

// Pixels of bytes become three interleaved bytes each. An item is 16 bytes of the output: six pixels overlap them, of
// which the first and the last are cut. The first item may start before the output, so that stores are aligned.
template <class Body, class Colors>
struct ThreeBytePixels {
  static constexpr const char* header = "loops/pixels/pixel_item.h";
  using Inner = Body;
  static constexpr int kPiece = 16, kTouched = 6;
  struct Params {
    unsigned char* out;
    const unsigned char* in;
    unsigned bytes;  // of the output
    Colors colors;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    static_assert(Body::out == 3);
    const int first = static_cast<int>(item) * kPiece - lead_of<1, kPiece, kPiece>(params.out);
    const int bytes = static_cast<int>(params.bytes);
    make_piece<kPiece>(first, bytes, [&] { make_whole(params, first); }, [&](int b) { make_byte(params, b); });
  }

 private:
  AVIDA_HD AVIDA_INLINE static void make_whole(const Params& params, int first) {
    const unsigned start = static_cast<unsigned>(first) / 3, cut = 8 * (static_cast<unsigned>(first) - start * 3);
    constexpr int n = (kTouched * Body::in + 3) / 4;
    unsigned words[n], made[5], shifted[4];
    load_words<1, 4 * n - kTouched * Body::in>(params.in + static_cast<long>(start) * Body::in, words);
    unsigned channels[4 * 5] = {};
    for (int k = 0; k < kTouched; k++) {
      Pixel<Body::in> pixel;
      for (int c = 0; c < Body::in; c++)
        pixel[c] = float_of_byte(words[(k * Body::in + c) / 4], (k * Body::in + c) % 4);
      const Pixel<3> all = Body::run(pixel, params.colors);
      for (int c = 0; c < 3; c++) channels[3 * k + c] = saturated_byte(all[c]);
    }
    for (int k = 0; k < 5; k++)
      made[k] = word_of(channels[4 * k], channels[4 * k + 1], channels[4 * k + 2], channels[4 * k + 3]);
    for (int k = 0; k < 4; k++) shifted[k] = word_between(made[k], made[k + 1], cut);
    store_words<kPiece>(params.out + first, shifted);
  }
  AVIDA_HD AVIDA_INLINE static void make_byte(const Params& params, int b) {
    Pixel<Body::in> pixel;
    for (int c = 0; c < Body::in; c++) pixel[c] = params.in[static_cast<long>(b / 3) * Body::in + c];
    const Pixel<3> all = Body::run(pixel, params.colors);
    const float number = b % 3 == 0 ? all[0] : b % 3 == 1 ? all[1] : all[2];
    params.out[b] = store_channel<unsigned char>(number);
  }
};

}  // namespace avida
