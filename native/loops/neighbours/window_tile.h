// Windows of images on a GPU, in tiles: weighted sums, the largest or smallest element, and the median.
// A thread block loads a tile and what its windows reach into shared memory once.
#pragma once
#include "device/byte_floats.h"
#include "loops/neighbours/tile.h"
#include "loops/neighbours/window_median.h"
#include "loops/neighbours/window_pick.h"

namespace avida {

// Inner makes the elements of some windows side by side.
template <class Inner_>
struct WindowTile {
  using Inner = Inner_;
  using In = typename Inner::In;
  using Out = typename Inner::Out;
  using Value = typename Inner::Value;  // what elements are computed in
  static constexpr const char* header = "loops/neighbours/window_tile.h";
  static constexpr int kThreads = 128, kPhases = 4, kWarps = kThreads / 32;
  static constexpr int kRows = 32;  // of a tile: each thread of a warp makes one of them
  static constexpr int kAlong = 8;  // points side by side that a thread makes
  static constexpr int kMostRows = 128;
  static constexpr int kWords = 12000 - kMostRows - Inner::kWeights;  // of shared memory
  static constexpr bool from_bytes = sizeof(In) == 1, to_bytes = sizeof(Out) == 1;

  struct Params {
    Out* out;
    TileSource<In> source;
    int out_height, out_row_elements;
    int tiles_down, tiles_along, tile_elements;  // of a row; a multiple of kAlong points
    int before_height, before_width;             // how far windows reach before the element
    int height, width;                           // of windows
    int margin, margin_after;                    // elements before and after a tile's row: multiples of four
    int in_pitch, out_pitch, out_at;             // in words of the shared memory
    bool out_words;                              // rows of bytes are aligned to words
    typename Inner::Params inner;
  };
  struct Shared {
    typename Inner::Weight weights[Inner::kWeights];
    int row_at[kMostRows];
    unsigned words[kWords];
  };

  struct Place {
    long image;
    int y, x;  // of the tile's first element
    int rows, elements;
  };
  AVIDA_HD static AVIDA_INLINE Place place_of(const Params& params, long item) {
    const unsigned tile = static_cast<unsigned>(item), along = static_cast<unsigned>(params.tiles_along);
    const unsigned down = static_cast<unsigned>(params.tiles_down), line = tile / along;
    const int y = static_cast<int>(line % down) * kRows, x = static_cast<int>(tile % along) * params.tile_elements;
    const int rows = params.out_height - y, elements = params.out_row_elements - x;
    return {static_cast<long>(line / down), y, x, rows < kRows ? rows : kRows,
            elements < params.tile_elements ? elements : params.tile_elements};
  }
  AVIDA_HD static AVIDA_INLINE TileSpan span_of(const Params& params, const Place& place) {
    const int elements = (params.margin + place.elements + params.margin_after + 3) & ~3;
    return {place.y - params.before_height, place.x - params.margin, place.rows + params.height - 1,
            elements / TileSource<In>::kInWord};
  }

  template <int phase>
  AVIDA_HD static AVIDA_INLINE void run(const Params& params, Shared& shared, long item, int thread) {
    const Place place = place_of(params, item);
    if constexpr (phase == 0) {
      find_rows<kThreads>(params.source, span_of(params, place), shared.row_at, thread);
      Inner::template load_weights<kThreads>(params.inner, place.image, params.height * params.width, shared.weights,
                                             thread);
    } else if constexpr (phase == 1) {
      const In* image = params.source.in + place.image * params.source.height * params.source.row_elements;
      load_tile<kThreads, true>(params.source, image, span_of(params, place), shared.row_at, shared.words,
                                params.in_pitch, thread);
    } else if constexpr (phase == 2) {
      make(params, shared, place, thread);
    } else {
      store(params, shared, place, thread);
    }
  }

  // The windows of points side by side of one channel, in the row of one thread.
  struct Windows {
    const unsigned* row;  // the first one of the windows
    int pitch, x, inner;  // the first element of the first window
    int height, width;

    AVIDA_HD AVIDA_INLINE Value at(int y, int point) const {
      const unsigned* from = row + y * pitch;
      if constexpr (from_bytes)
        return Inner::value(reinterpret_cast<const unsigned char*>(from)[x + point * inner]);
      else
        return Inner::value(bits_float(from[x + point * inner]));
    }

    // Calls fn(k, values, shift) for element k of all windows, in the order of memory: that of window i is
    // values[(i + shift) % kAlong]. Neighbours stay in registers.
    template <class Fn>
    AVIDA_HD AVIDA_INLINE void each(Fn&& fn) const {
      AVIDA_DO_NOT_UNROLL
      for (int y = 0; y < height; y++) {
        Value values[kAlong];
        AVIDA_UNROLL
        for (int i = 0; i < kAlong; i++) values[i] = at(y, i);
        AVIDA_DO_NOT_UNROLL
        for (int done = 0; done < width; done += kAlong) {
          AVIDA_UNROLL
          for (int k = 0; k < kAlong; k++) {
            if (done + k >= width) break;
            if (done + k > 0) values[(k + kAlong - 1) % kAlong] = at(y, done + k + kAlong - 1);
            fn(y * width + done + k, values, k);
          }
        }
      }
    }
  };

  AVIDA_HD AVIDA_KERNEL_INLINE static void make(const Params& params, Shared& shared, const Place& place, int thread) {
    const int lane = thread % 32, inner = params.source.inner;
    if (lane >= place.rows) return;
    int x = 0, channel = thread / 32;
    while (true) {
      for (; channel >= inner; channel -= inner) x += kAlong * inner;
      if (x >= place.elements) break;
      const int first = params.margin - params.before_width * inner + x + channel;
      const Windows windows = {
          shared.words + lane * params.in_pitch, params.in_pitch, first, inner, params.height, params.width};
      Out made[kAlong];
      Inner::template make<kAlong>(params.inner, windows, shared.weights, params.before_height, params.before_width,
                                   made);
      unsigned* row = shared.words + params.out_at + lane * params.out_pitch;
      AVIDA_UNROLL
      for (int i = 0; i < kAlong; i++) {
        const int at = x + channel + i * inner;
        if constexpr (to_bytes)
          reinterpret_cast<unsigned char*>(row)[at] = made[i];
        else
          row[at] = float_bits(made[i]);
      }
      channel += kWarps;
    }
  }

  AVIDA_HD AVIDA_KERNEL_INLINE static void store(const Params& params, const Shared& shared, const Place& place,
                                                 int thread) {
    const int n = params.out_row_elements;
    Out* tile = params.out + (place.image * params.out_height + place.y) * n + place.x;
    const unsigned* from = shared.words + params.out_at;
    constexpr int kInWord = to_bytes ? 4 : 1;
    for (int i = thread % 32; i * kInWord < place.elements; i += 32) {
      const int count = place.elements - i * kInWord;
      if (!to_bytes || (params.out_words && count >= kInWord)) {
        AVIDA_UNROLL
        for (int k = 0; k < kRows / kWarps; k++) {
          const int row = thread / 32 + k * kWarps;
          if (row < place.rows) store_some<true>(tile + row * n + i * kInWord, from[row * params.out_pitch + i], count);
        }
      } else {
        AVIDA_DO_NOT_UNROLL
        for (int row = thread / 32; row < place.rows; row += kWarps)
          store_some<false>(tile + row * n + i * kInWord, from[row * params.out_pitch + i], count);
      }
    }
  }
  template <bool whole>
  AVIDA_HD static AVIDA_INLINE void store_some(Out* to, unsigned word, int count) {
    if constexpr (to_bytes)
      store_word<whole>(to, word, count);
    else
      *to = bits_float(word);
  }
};

// The sum of the elements of a window, multiplied by weights: see WindowSum.
template <class Out_, class In_, class Sum, class Weight_ = Sum>
struct TileSum {
  using Out = Out_;
  using In = In_;
  using Value = Sum;
  using Weight = Sum;
  static constexpr const char* header = "loops/neighbours/window_tile.h";
  static constexpr int kWeights = 1024;
  struct Params {
    const Weight_* weights;  // in the order of memory
    long images_of_frame, weights_of_frame;
    int bits;
  };

  template <int threads>
  AVIDA_HD static AVIDA_INLINE void load_weights(const Params& params, long image, int count, Sum* to, int thread) {
    const Weight_* from = params.weights;
    if (params.weights_of_frame) from += image / params.images_of_frame * params.weights_of_frame;
    for (int i = thread; i < count; i += threads) to[i] = static_cast<Sum>(from[i]);
  }
  AVIDA_HD static AVIDA_INLINE Sum value(In x) {
    if constexpr (same_type<Sum, float> && sizeof(In) == 1)
      return float_of_byte(x, 0);
    else
      return static_cast<Sum>(x);
  }

  template <int n, class Windows>
  AVIDA_HD AVIDA_KERNEL_INLINE static void make(const Params& params, const Windows& windows, const Sum* weights, int,
                                                int, Out (&made)[n]) {
    Sum sums[n] = {};
    windows.each([&](int k, const Sum(&values)[n], int shift) {
      const Sum weight = weights[k];
      AVIDA_UNROLL
      for (int i = 0; i < n; i++) sums[i] += values[(i + shift) % n] * weight;
    });
    AVIDA_UNROLL
    for (int i = 0; i < n; i++) {
      if constexpr (same_type<Sum, float>)
        made[i] = convert<Out>(sums[i]);
      else
        made[i] = saturate<Out>((sums[i] + (1 << params.bits >> 1)) >> params.bits);
    }
  }
};

// The largest, or the smallest, element: see WindowPick. The fill value of the source is never picked.
template <class T, bool larger>
struct TilePick {
  using Out = T;
  using In = T;
  using Weight = int;

  using Value = decltype(T() + T());  // bytes as int
  static constexpr const char* header = "loops/neighbours/window_tile.h";
  static constexpr int kWeights = 1;  // there are none
  struct Params {};

  template <int threads>
  AVIDA_HD static AVIDA_INLINE void load_weights(const Params&, long, int, int*, int) {}
  AVIDA_HD static AVIDA_INLINE Value value(T x) { return x; }

  template <int n, class Windows>
  AVIDA_HD static AVIDA_INLINE void make(const Params&, const Windows& windows, const int*, int centre_y, int centre_x,
                                         T (&made)[n]) {
    Value picked[n];
    AVIDA_UNROLL
    for (int i = 0; i < n; i++) picked[i] = windows.at(centre_y, centre_x + i);
    windows.each([&](int, const Value(&values)[n], int shift) {
      AVIDA_UNROLL
      for (int i = 0; i < n; i++) picked[i] = pick_of_two<larger>(picked[i], values[(i + shift) % n]);
    });
    AVIDA_UNROLL
    for (int i = 0; i < n; i++) made[i] = static_cast<T>(picked[i]);
  }
};

// The median: see WindowMedian. Windows of 3 x 3 are sorted, others searched bit by bit.
template <class T>
struct TileMedian {
  using Out = T;
  using In = T;
  using Value = unsigned;  // the keys of elements
  using Weight = int;
  static constexpr const char* header = "loops/neighbours/window_tile.h";
  static constexpr int kWeights = 1;  // there are none
  struct Params {};

  template <int threads>
  AVIDA_HD static AVIDA_INLINE void load_weights(const Params&, long, int, int*, int) {}
  AVIDA_HD static AVIDA_INLINE unsigned value(T x) { return Ordered<T>::key(x); }

  AVIDA_HD static AVIDA_INLINE unsigned lower(unsigned a, unsigned b) { return a < b ? a : b; }
  AVIDA_HD static AVIDA_INLINE unsigned upper(unsigned a, unsigned b) { return a < b ? b : a; }
  AVIDA_HD static AVIDA_INLINE unsigned middle(unsigned a, unsigned b, unsigned c) {
    return upper(lower(a, b), lower(upper(a, b), c));
  }

  template <int n, class Windows>
  AVIDA_HD static AVIDA_INLINE void make(const Params&, const Windows& windows, const int*, int, int, T (&made)[n]) {
    if (windows.height == 3 && windows.width == 3)
      make_of_nine(windows, made);
    else
      make_of_many(windows, made);
  }

  // Columns are sorted once for the three windows that share them. The median is the middle one of the largest of the
  // low, the middle of the middle and the smallest of the high.
  template <int n, class Windows>
  AVIDA_HD static AVIDA_INLINE void make_of_nine(const Windows& windows, T (&made)[n]) {
    unsigned low[n + 2], mid[n + 2], high[n + 2];
    AVIDA_UNROLL
    for (int i = 0; i < n + 2; i++) {
      const unsigned a = windows.at(0, i), b = windows.at(1, i), c = windows.at(2, i);
      low[i] = lower(lower(a, b), c);
      mid[i] = middle(a, b, c);
      high[i] = upper(upper(a, b), c);
    }
    AVIDA_UNROLL
    for (int i = 0; i < n; i++)
      made[i] =
          Ordered<T>::value(middle(upper(upper(low[i], low[i + 1]), low[i + 2]), middle(mid[i], mid[i + 1], mid[i + 2]),
                                   lower(lower(high[i], high[i + 1]), high[i + 2])));
  }

  template <int n, class Windows>
  AVIDA_HD static AVIDA_INLINE void make_of_many(const Windows& windows, T (&made)[n]) {
    const unsigned half = static_cast<unsigned>(windows.height * windows.width / 2);
    unsigned medians[n] = {};
    AVIDA_DO_NOT_UNROLL
    for (unsigned bit = sizeof(T) == 1 ? 0x80 : Ordered<T>::top; bit; bit >>= 1) {
      unsigned limits[n], below[n] = {};
      AVIDA_UNROLL
      for (int i = 0; i < n; i++) limits[i] = medians[i] | bit;
      windows.each([&](int, const unsigned (&values)[n], int shift) {
        AVIDA_UNROLL
        for (int i = 0; i < n; i++) {
          const unsigned key = values[(i + shift) % n];
          below[i] += sizeof(T) == 1 ? (key - limits[i]) >> 31 : key < limits[i];
        }
      });
      AVIDA_UNROLL
      for (int i = 0; i < n; i++)
        if (below[i] <= half) medians[i] = limits[i];
    }
    AVIDA_UNROLL
    for (int i = 0; i < n; i++) made[i] = Ordered<T>::value(medians[i]);
  }
};

}  // namespace avida
