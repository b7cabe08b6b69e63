// GPU bodies that resample along one axis, and that compute its weights. Read by NVRTC too: no std headers.
#pragma once
#include "device/element.h"
#include "device/neighbour_elements.h"
#include "loops/resampling/resample_filter.h"

namespace avida {

// The integer arithmetic of resample_bytes.h.
namespace bytes {
constexpr int kWeightBits = 14, kRowBits = 6;
constexpr int kRowShift = kWeightBits - kRowBits, kOutShift = kWeightBits + kRowBits;
}  // namespace bytes

// resample_window(), with positions summed up where the axis says so.
AVIDA_HD AVIDA_INLINE ResampleWindow placed_window(const ResampleAxis& axis, long i) {
  ResampleWindow window = resample_window(axis, i);
  if (axis.summed && axis.filter == ResampleFilter::nearest) {
    float position = axis.start + 0.5f * axis.step();
    for (long k = 0; k < i; k++) position += axis.step();
    window.first = static_cast<long>(math::floor(position));
  }
  return window;
}

// An item is an output element of an axis: which input elements it is made of, and their weights.
struct TapsItem {
  static constexpr const char* header = "loops/resampling/resample_item.h";
  struct Params {
    ResampleAxis axis;
    const float* table;  // of the filter
    long count;          // of weights
    int* first;
    float* weights;
    short* whole;  // the weights as integers that add up to exactly 1; null: not needed
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const ResampleAxis& axis = params.axis;
    const ResampleWindow window = placed_window(axis, i);
    const long first = inside(window.first, axis.in - params.count);
    params.first[i] = static_cast<int>(first);
    float* weights = params.weights + i * params.count;
    for (long k = 0; k < params.count; k++) weights[k] = 0;
    float sum = 0;
    for (long k = 0; k < window.count; k++) {
      const float weight = window_weight(axis, params.table, window, k);
      weights[inside(window.first + k, axis.in - 1) - first] += weight;
      sum += weight;
    }
    for (long k = 0; k < params.count; k++) weights[k] /= sum;
    if (!params.whole) return;
    double total = 0;
    for (long k = 0, before = 0; k < params.count; k++) {
      total += static_cast<double>(weights[k]);
      constexpr int one = 1 << bytes::kWeightBits;
      const long now = k + 1 == params.count ? one : convert<int>(total * one);
      params.whole[i * params.count + k] = static_cast<short>(now - before);
      before = now;
    }
  }

 private:
  AVIDA_HD AVIDA_INLINE static long inside(long i, long last) { return i < 0 ? 0 : i > last ? last : i; }
};

// Where element i lies in an array whose axes are any number, `extent` and `inner`. Most numbers fit 32 bits, in which
// GPUs divide a lot faster.
struct AxisIndex {
  long outer, at, rest;

  AVIDA_HD AVIDA_INLINE AxisIndex(long i, long extent, long inner) {
    if ((i | extent | inner) >> 32 == 0)
      divide<unsigned>(static_cast<unsigned>(i), static_cast<unsigned>(extent), static_cast<unsigned>(inner));
    else
      divide<long>(i, extent, inner);
  }

 private:
  template <class T>
  AVIDA_HD AVIDA_INLINE void divide(T i, T extent, T inner) {
    const T line = i / inner, image = line / extent;
    rest = i - line * inner;
    at = line - image * extent;
    outer = image;
  }
};

// An item is an element of the output, whose axes are any number of `out_extent`, and `inner` elements after them. To
// and From are element types, or AnyElement.
template <class To, class From>
struct ResampleItem {
  static constexpr const char* header = "loops/resampling/resample_item.h";
  struct Params {
    void* out;
    const void* in;
    int to, from;  // the types, where they are known at run time only
    const int* first;
    const float* weights;
    long count, in_extent, out_extent, inner;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const auto [outer, at, rest] = AxisIndex(i, params.out_extent, params.inner);
    const long from = (outer * params.in_extent + params.first[at]) * params.inner + rest;
    const float* weights = params.weights + at * params.count;
    float sum = 0;
    for (long k = 0; k < params.count; k++)
      sum += load_element<float, From>(params.in, params.from, from + k * params.inner) * weights[k];
    store_element<To>(params.out, params.to, i, sum);
  }
};

// The same for nearest elements, which are only moved.
template <class T>
struct PickItem {
  static constexpr const char* header = "loops/resampling/resample_item.h";
  struct Params {
    T* out;
    const T* in;
    const int* first;
    long in_extent, out_extent, inner;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const auto [outer, at, rest] = AxisIndex(i, params.out_extent, params.inner);
    params.out[i] = params.in[(outer * params.in_extent + params.first[at]) * params.inner + rest];
  }
};

// An item is a pixel of an image of bytes, made of pixels of its row. To is short, with kRowBits of fraction, or a byte
// where the rows stay as they are.
template <class To, int channels>
struct FilterBytesItem {
  static constexpr const char* header = "loops/resampling/resample_item.h";
  struct Params {
    To* out;
    const unsigned char* in;
    const int* first;
    const short* weights;
    int count;
    long in_columns, out_columns;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const auto [y, x, rest] = AxisIndex(i, params.out_columns, 1);
    const unsigned char* from = params.in + (y * params.in_columns + params.first[x]) * channels;
    const short* weights = params.weights + x * params.count;
    int sum[channels];
    for (int c = 0; c < channels; c++) sum[c] = 1 << (bytes::kRowShift - 1);
    for (int k = 0; k < params.count; k++, from += channels)
      for (int c = 0; c < channels; c++) sum[c] += from[c] * weights[k];
    for (int c = 0; c < channels; c++) {
      const short made = static_cast<short>(sum[c] >> bytes::kRowShift);
      if constexpr (same_type<To, short>)
        params.out[i * channels + c] = made;
      else
        params.out[i * channels + c] =
            saturate<unsigned char>((made + (1 << (bytes::kRowBits - 1))) >> bytes::kRowBits);
    }
  }
};

// An item is some neighbours in a row of the output, mixed from rows of bytes or of what FilterBytesItem made.
template <class From>
struct MixBytesItem {
  static constexpr const char* header = "loops/resampling/resample_item.h";
  struct Params {
    unsigned char* out;
    const From* in;
    const int* first;
    const short* weights;
    int count;
    bool aligned;                 // rows of both arrays, to as many elements as are made together
    long in_rows, out_rows, row;  // elements in a row
  };

  AVIDA_HD AVIDA_INLINE static long items_per_row(long row) { return (row + kNeighbours - 1) / kNeighbours; }

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const auto [image, y, item] = AxisIndex(i, params.out_rows, items_per_row(params.row));
    const long x = item * kNeighbours;
    const From* from = params.in + (image * params.in_rows + params.first[y]) * params.row + x;
    const short* weights = params.weights + y * params.count;
    unsigned char* out = params.out + (image * params.out_rows + y) * params.row + x;
    if (params.aligned) {
      int sum[kNeighbours];
      for (int& each : sum) each = 1 << (bytes::kOutShift - 1);
      for (int k = 0; k < params.count; k++, from += params.row) {
        const auto read = *reinterpret_cast<const NeighbourElements<From>*>(from);
        for (int j = 0; j < kNeighbours; j++) sum[j] += widened(read.at[j]) * weights[k];
      }
      NeighbourElements<unsigned char> made;
      for (int j = 0; j < kNeighbours; j++) made.at[j] = narrowed(sum[j]);
      *reinterpret_cast<NeighbourElements<unsigned char>*>(out) = made;
      return;
    }
    for (long j = 0; j < kNeighbours && x + j < params.row; j++) {
      int sum = 1 << (bytes::kOutShift - 1);
      for (int k = 0; k < params.count; k++) sum += widened(from[k * params.row + j]) * weights[k];
      out[j] = narrowed(sum);
    }
  }

 private:
  AVIDA_HD AVIDA_INLINE static int widened(unsigned char x) { return x << bytes::kRowBits; }
  AVIDA_HD AVIDA_INLINE static int widened(short x) { return x; }
  AVIDA_HD AVIDA_INLINE static unsigned char narrowed(int sum) {
    return saturate<unsigned char>(sum >> bytes::kOutShift);
  }
};

}  // namespace avida
