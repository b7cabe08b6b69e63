// The body of letterbox: an element of the canvas. Read by NVRTC too: no std headers.
#pragma once
#include "device/convert.h"
#include "device/divide.h"

namespace avida::ops {

// The two rows or columns of the image that one of the result lies between, and their weights.
struct Neighbours {
  int at[2];
  float weights[2];
};

// Linear interpolation, first along rows and then between two of them.
template <class T>
struct Mixing {
  using Sum = float;
  AVIDA_HD AVIDA_INLINE static Sum along(T left, T right, const Neighbours& by) {
    return static_cast<Sum>(left) * by.weights[0] + static_cast<Sum>(right) * by.weights[1];
  }
  AVIDA_HD AVIDA_INLINE static T across(Sum upper, Sum lower, const Neighbours& by) {
    return convert<T>(upper * by.weights[0] + lower * by.weights[1]);
  }
};

// Bytes in integers, bit for bit as OpenCV does it. Weights count units of 1 / 2048.
template <>
struct Mixing<unsigned char> {
  using Sum = int;
  AVIDA_HD AVIDA_INLINE static Sum along(unsigned char left, unsigned char right, const Neighbours& by) {
    return left * static_cast<int>(by.weights[0]) + right * static_cast<int>(by.weights[1]);
  }
  AVIDA_HD AVIDA_INLINE static unsigned char across(Sum upper, Sum lower, const Neighbours& by) {
    const int from_upper = (static_cast<int>(by.weights[0]) * (upper >> 4)) >> 16;
    const int from_lower = (static_cast<int>(by.weights[1]) * (lower >> 4)) >> 16;
    return static_cast<unsigned char>((from_upper + from_lower + 2) >> 2);
  }
};

// Each item is an element of the canvas.
template <class T>
struct Letterbox {
  static constexpr const char* header = "ops/image/letterbox.h";
  struct Params {
    T* out;
    const T* in;
    const Neighbours *rows, *columns;  // of the image on the canvas
    const T* fills;                    // one for each channel
    long row_count, column_count;      // how many the image has there
    long height, width, top, left;     // of the canvas; where the image begins
    long in_height, in_width;
    long inner_channels, outer_channels;  // of interleaved channels, of planes; one of both is 1
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const auto [pixel, channel] = divided(i, params.inner_channels);
    const auto [row, x] = divided(pixel, params.width);
    const auto [plane, y] = divided(row, params.height);
    const long in_y = y - params.top, in_x = x - params.left;
    if (in_y < 0 || in_y >= params.row_count || in_x < 0 || in_x >= params.column_count) {
      params.out[i] = params.fills[channel + divided(plane, params.outer_channels).rest];
      return;
    }
    const Neighbours &between_rows = params.rows[in_y], &between_columns = params.columns[in_x];
    const T* from = params.in + plane * params.in_height * params.in_width * params.inner_channels + channel;
    typename Mixing<T>::Sum sums[2];
    for (int k = 0; k < 2; k++) {
      const long start = between_rows.at[k] * params.in_width;
      sums[k] = Mixing<T>::along(from[(start + between_columns.at[0]) * params.inner_channels],
                                 from[(start + between_columns.at[1]) * params.inner_channels], between_columns);
    }
    params.out[i] = Mixing<T>::across(sums[0], sums[1], between_rows);
  }
};

}  // namespace avida::ops
