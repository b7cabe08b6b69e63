// The kernels that move single elements, or tiles of a transposition. Read by NVRTC too: no std headers.
#pragma once
#include "device/divide.h"

namespace avida {

struct alignas(16) SixteenBytes {
  unsigned long low, high;
};

// Most often the channels of a pixel.
template <class T>
struct ThreeElements {
  T at[3];
};

// An item is an element: of a transposition, a part, a piece of something larger, or (with steps of 0) something
// repeated. Elements are moved by their size alone.
template <class T>
struct StridedItem {
  static constexpr const char* header = "loops/moving/strided_item.h";
  static constexpr int kMostAxes = 17;  // the bytes of an element may be one
  struct Params {
    T* out;
    const T* in;  // where the element of index 0, 0, ... comes from
    int axes;
    long extent[kMostAxes], out_step[kMostAxes], in_step[kMostAxes];  // in elements
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    long to = 0, from = 0, rest = i;
    for (int d = params.axes - 1; d > 0; d--) {
      const auto [next, at] = divided(rest, params.extent[d]);
      rest = next;
      to += at * params.out_step[d];
      from += at * params.in_step[d];
    }
    params.out[to + rest * params.out_step[0]] = params.in[from + rest * params.in_step[0]];
  }
};

// An item is a tile: elements are contiguous along one axis of the input and along another of the output. The tile
// passes through shared memory, so that reads and writes are both coalesced.
template <class T>
struct TransposeTile {
  static constexpr const char* header = "loops/moving/strided_item.h";
  static constexpr int kThreads = 256, kPhases = 2, kSide = sizeof(T) < 3 ? 64 : 32, kOuterAxes = 3;
  static constexpr int kRows = kThreads / kSide;  // that threads move at once
  struct Params {
    T* out;
    const T* in;
    unsigned row_tiles, column_tiles;
    long rows, columns;           // of the output, where columns are contiguous; in the input, rows are
    long row_step, column_step;   // of the output's rows, of the input's columns; in elements
    unsigned extent[kOuterAxes];  // around them
    long out_step[kOuterAxes], in_step[kOuterAxes];
  };
  struct Shared {
    T at[kSide][kSide + (sizeof(T) < 4 ? 4 / sizeof(T) : 1)];  // so that columns lie in different banks
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    unsigned rest = static_cast<unsigned>(item);
    auto next = [&](unsigned extent) {
      const unsigned all = rest;
      rest = extent == 1 ? all : all / extent;
      return static_cast<long>(all - rest * extent);
    };
    const long column = next(params.column_tiles) * kSide, row = next(params.row_tiles) * kSide;
    long to = row * params.row_step + column, from = column * params.column_step + row;
    for (int d = kOuterAxes - 1; d >= 0; d--) {
      const long at = next(params.extent[d]);
      to += at * params.out_step[d];
      from += at * params.in_step[d];
    }
    const int fast = thread % kSide, slow = thread / kSide;
    const int rows = params.rows - row < kSide ? static_cast<int>(params.rows - row) : kSide;
    const int columns = params.columns - column < kSide ? static_cast<int>(params.columns - column) : kSide;
    if constexpr (phase == 0) {
      if (fast >= rows) return;
      const T* in = params.in + (from + fast + slow * params.column_step);
      for (int j = 0; j < kSide; j += kRows, in += kRows * params.column_step)
        if (slow + j < columns) shared.at[slow + j][fast] = *in;
    } else {
      if (fast >= columns) return;
      T* out = params.out + (to + fast + slow * params.row_step);
      for (int j = 0; j < kSide; j += kRows, out += kRows * params.row_step)
        if (slow + j < rows) *out = shared.at[fast][slow + j];
    }
  }
};

}  // namespace avida
