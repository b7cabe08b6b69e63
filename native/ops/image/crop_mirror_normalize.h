// GPU bodies that crop, mirror and normalise pixels. Read by NVRTC too: no std headers.
#pragma once
#include "device/byte_floats.h"
#include "device/element.h"
#include "device/words.h"

namespace avida::ops {

// output = (input - mean) * factor + shift
struct Normalization {
  float mean, factor, shift;

  AVIDA_HD AVIDA_INLINE float operator()(float x) const { return (x - mean) * factor + shift; }
};

// An item is a pixel of the output, in the order of its axes without that of the channels, of which there may be more
// than in the input. To and From are element types, or AnyElement.
template <class To, class From>
struct CropMirrorNormalize {
  static constexpr const char* header = "ops/image/crop_mirror_normalize.h";
  static constexpr int kMostAxes = 4;
  struct Params {
    void* out;
    const void* in;
    int to, from;  // the types, where they are known at run time only
    int axes, width_axis;
    bool mirror;
    long size[kMostAxes], out_step[kMostAxes];
    long start[kMostAxes], in_extent[kMostAxes], in_step[kMostAxes];
    int channels, out_channels;
    long channel_step, out_channel_step;
    const Normalization* by;  // for each channel of the input
    const float* fill;        // for each channel of the output
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long from = 0, to = 0, rest = i;
    bool inside = true;
    for (int d = params.axes - 1; d >= 0; d--) {
      const long next = d ? rest / params.size[d] : 0, at = rest - next * params.size[d];
      rest = next;
      const long source = params.start[d] + (d == params.width_axis && params.mirror ? params.size[d] - 1 - at : at);
      inside &= source >= 0 && source < params.in_extent[d];
      from += source * params.in_step[d];
      to += at * params.out_step[d];
    }
    for (int c = 0; c < params.out_channels; c++) {
      const float made =
          inside && c < params.channels
              ? params.by[c](load_element<float, From>(params.in, params.from, from + c * params.channel_step))
              : params.fill[c];
      store_element<To>(params.out, params.to, to + c * params.out_channel_step, made);
    }
  }
};

// Images of interleaved channels. Each item writes 8 pixels of a row. Items may start before the row so that stores are
// aligned. From is uint8 or float.
template <class To, class From, int channels, int out_channels>
struct NormalizedPixels {
  static constexpr const char* header = "ops/image/crop_mirror_normalize.h";
  static constexpr bool kUsual = same_type<To, float> && same_type<From, unsigned char> && out_channels == 3;
  static constexpr int kPiece = 8, kRowAxes = 3;
  struct Params {
    To* out;
    const From* in;
    unsigned pieces;  // of a row
    bool mirror;
    int width, start, in_width;
    long plane;  // from a channel of the output to the next; 0: side by side
    int size[kRowAxes], first[kRowAxes], in_extent[kRowAxes];  // around rows
    long out_step[kRowAxes], in_step[kRowAxes];
    Normalization by[channels];
    float fill[out_channels];
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    unsigned rest = static_cast<unsigned>(i) / params.pieces;
    const unsigned piece = static_cast<unsigned>(i) - rest * params.pieces;
    long from = 0, to = 0;
    bool inside = true;
    for (int d = kRowAxes - 1; d >= 0; d--) {
      const unsigned size = static_cast<unsigned>(params.size[d]);
      const unsigned next = d == 0 ? 0 : size == 1 ? rest : rest / size;
      const int at = static_cast<int>(rest - next * size), source = params.first[d] + at;
      rest = next;
      inside &= source >= 0 && source < params.in_extent[d];
      from += source * params.in_step[d];
      to += at * params.out_step[d];
    }
    const long plane = params.plane;
    To* out = params.out + to;
    const int begin = static_cast<int>(piece) * kPiece - (plane ? lead<1>(out) : lead<out_channels>(out));
    const int left = params.start + (params.mirror ? params.width - kPiece - begin : begin);  // of the input's pixels
    Numbers made;
    if (inside && left >= 0 && left + kPiece <= params.in_width)
      load(params, params.in + from + static_cast<long>(left) * channels, made);
    else
      for (int k = 0; k < kPiece; k++) {
        const int x = params.mirror ? left + kPiece - 1 - k : left + k;
        const bool shown = inside && x >= 0 && x < params.in_width;
        const From* pixel = params.in + from + static_cast<long>(x) * channels;
        for (int c = 0; c < out_channels; c++)
          made.at[k][c] =
              shown && c < channels ? params.by[c % channels](static_cast<float>(pixel[c])) : params.fill[c];
      }
    if (begin < 0 || begin + kPiece > params.width) {
      for (int k = 0; k < kPiece; k++)
        for (int c = 0; c < out_channels; c++)
          if (const long x = begin + k; x >= 0 && x < params.width)
            out[plane ? c * plane + x : x * out_channels + c] = convert<To>(made.at[k][c]);
    } else if (plane) {
      for (int c = 0; c < out_channels; c++) store<1>(out + c * plane + begin, made, c);
    } else {
      store<out_channels>(out + static_cast<long>(begin) * out_channels, made, 0);
    }
  }

 private:
  struct Numbers {
    float at[kPiece][out_channels];
  };

  template <int count>
  AVIDA_HD AVIDA_INLINE static int lead(const To* out) {
    constexpr int size = count * sizeof(To);
    return lead_of<size, size * kPiece % 16 == 0 ? 16 : 8, kPiece>(out);
  }

  AVIDA_HD AVIDA_INLINE static void load(const Params& params, const From* in, Numbers& made) {
    unsigned words[kPiece * channels * sizeof(From) / 4];
    load_words<sizeof(From)>(in, words);
    auto number = [&](int k, int c) {
      const int n = k * channels + c;
      if constexpr (sizeof(From) == 1)
        return float_of_byte(words[n / 4], n % 4);
      else
        return __builtin_bit_cast(float, words[n]);
    };
    for (int k = 0; k < kPiece; k++)
      for (int c = 0; c < out_channels; c++)
        if (c < channels)
          made.at[k][c] = params.by[c % channels](params.mirror ? number(kPiece - 1 - k, c) : number(k, c));
        else
          made.at[k][c] = params.fill[c];
  }

  // The given count of channels of each pixel, from channel c.
  template <int count>
  AVIDA_HD AVIDA_INLINE static void store(To* to, const Numbers& made, int c) {
    unsigned words[kPiece * count * sizeof(To) / 4] = {};
    for (int k = 0; k < kPiece * count; k++) {
      const float x = made.at[k / count][c + k % count];
      if constexpr (sizeof(To) == 4)
        words[k] = __builtin_bit_cast(unsigned, x);
      else
        add_part<sizeof(To)>(words, k, convert<To>(x).bits);
    }
    store_words<sizeof(To)>(to, words);
  }
};

}  // namespace avida::ops
