// Separable convolutions of images on a GPU, in tiles: the sums of separable_sum.h along height and then width.
// A thread block loads a tile and what its windows reach into shared memory, sums along height, then width, and stores.
#pragma once
#include "device/byte_floats.h"
#include "loops/neighbours/separable_sum.h"
#include "loops/neighbours/tile.h"

namespace avida {

// Sums of bytes that fit 16 bits (Fixed and Whole) are exact in floats; others are floats. Out is an element type.
template <class Out, class In, class T, int terms>
struct SeparableTile {
  static constexpr const char* header = "loops/neighbours/separable_tile.h";
  static constexpr int kThreads = 128, kPhases = 5, kBlocks = 4, kWarps = kThreads / 32;
  static constexpr bool packed = !same_type<T, float>, from_bytes = sizeof(In) == 1, to_bytes = sizeof(Out) == 1;
  static constexpr int kDeep = packed ? 2 : 1;   // rows that one word of sums along height has
  static constexpr int kDown = 8, kAlong = 8;    // elements that a thread makes along height, and along width
  static constexpr int kRows = 32 * kDeep;       // of a tile
  static constexpr int kGroups = kRows / kDown;  // of rows
  static constexpr int kMostWeights = 32;
  static constexpr int kMostRows = kRows + 2 * (kMostWeights - 1);  // with those above and below
  static constexpr int kWords = 12000 - 64 * terms;                 // of shared memory

  struct Window {
    float half[kMostWeights];
    float start;
    int radius;
  };
  struct Params {
    Out* out;
    TileSource<In> source;
    int tiles_down, tiles_along, tile_elements;  // of a row; a multiple of kAlong points
    int margin;                                  // elements before and after a tile's row: a multiple of four
    int in_pitch, sums_pitch, out_pitch, sums_at, sums_of_term;  // in words of the shared memory
    int most_radius;                                             // along height
    bool out_words;                                              // rows of bytes are aligned to words
    float scale;                                                 // of Whole sums
    Window windows[terms][2];                                    // along height, width
  };
  struct Shared {
    float weights[terms][2][kMostWeights];
    int row_at[kMostRows];  // in the image
    alignas(16) unsigned words[kWords];
  };

  struct Place {
    long first_row;  // of the image
    int y, x;        // of the tile's first element
  };
  AVIDA_HD static AVIDA_INLINE Place place_of(const Params& params, long item) {
    const unsigned tile = static_cast<unsigned>(item), along = static_cast<unsigned>(params.tiles_along);
    const unsigned down = static_cast<unsigned>(params.tiles_down), line = tile / along;
    return {static_cast<long>(line / down) * params.source.height, static_cast<int>(line % down) * kRows,
            static_cast<int>(tile % along) * params.tile_elements};
  }

  template <int phase>
  AVIDA_HD static AVIDA_INLINE void run(const Params& params, Shared& shared, long item, int thread) {
    const Place place = place_of(params, item);
    if constexpr (phase == 0)
      prepare(params, shared, place, thread);
    else if constexpr (phase == 1)
      load(params, shared, place, thread);
    else if constexpr (phase == 2)
      sum_down(params, shared, place, thread);
    else if constexpr (phase == 3)
      sum_along(params, shared, place, thread);
    else
      store(params, shared, place, thread);
  }

  // What a tile has of the image.
  AVIDA_HD static AVIDA_INLINE int rows_of(const Params& params, const Place& place) {
    const int left = params.source.height - place.y;
    return left < kRows ? left : kRows;
  }
  AVIDA_HD static AVIDA_INLINE int elements_of(const Params& params, const Place& place) {
    const int left = params.source.row_elements - place.x;
    return left < params.tile_elements ? left : params.tile_elements;
  }
  // Its rows with their margins, in fours of elements.
  AVIDA_HD static AVIDA_INLINE int quads_of(const Params& params, const Place& place) {
    return (elements_of(params, place) + 2 * params.margin + 3) / 4;
  }

  AVIDA_HD static AVIDA_INLINE TileSpan span_of(const Params& params, const Place& place) {
    return {place.y - params.most_radius, place.x - params.margin, rows_of(params, place) + 2 * params.most_radius,
            quads_of(params, place) * (from_bytes ? 1 : 4)};
  }

  AVIDA_HD static AVIDA_INLINE void prepare(const Params& params, Shared& shared, const Place& place, int thread) {
    if (thread < kMostWeights)
      for (int i = 0; i < 2 * terms; i++)
        shared.weights[i / 2][i % 2][thread] = params.windows[i / 2][i % 2].half[thread];
    find_rows<kThreads>(params.source, span_of(params, place), shared.row_at, thread);
  }

  AVIDA_HD AVIDA_KERNEL_INLINE static void load(const Params& params, Shared& shared, const Place& place, int thread) {
    const In* image = params.source.in + place.first_row * params.source.row_elements;
    load_tile<kThreads, false>(params.source, image, span_of(params, place), shared.row_at, shared.words,
                               params.in_pitch, thread);
  }

  // Four elements side by side, as sums take them.
  AVIDA_HD static AVIDA_INLINE void load_four(const unsigned* from, float (&to)[4]) {
    if constexpr (from_bytes) {
      AVIDA_UNROLL
      for (int k = 0; k < 4; k++) to[k] = packed ? biased_byte(*from, k) : float_of_byte(*from, k);
    } else {
      const auto words = load_aligned<4>(from);
      for (int k = 0; k < 4; k++) to[k] = bits_float(words.at[k]);
    }
  }

  AVIDA_HD static AVIDA_INLINE void add(float& sum, float x, float weight) {
    sum = packed ? add_rounded_down(sum, x, weight) : sum + x * weight;
  }

  // Adds up the window of `run` elements side by side, of which load(i, to) has the i-th: `wide` numbers that are
  // summed alike. Neighbours stay in registers: at the distance k, those of element i are at [i - k] and [i + k] modulo
  // run. Of wide windows, the outer ones are loaded again.
  template <int run, int wide, class Load>
  AVIDA_HD static AVIDA_INLINE void add_window(float (&sums)[run][wide], const float* weights, int radius,
                                               Load&& load) {
    float before[run][wide], after[run][wide];
    AVIDA_UNROLL
    for (int i = 0; i < run; i++) {
      load(i, before[i]);
      AVIDA_UNROLL
      for (int c = 0; c < wide; c++) {
        after[i][c] = before[i][c];
        add(sums[i][c], before[i][c], weights[0]);
      }
    }
    AVIDA_UNROLL
    for (int k = 1; k <= run; k++) {
      if (k > radius) return;
      load(-k, before[(run - k) % run]);
      load(run - 1 + k, after[(run - 1 + k) % run]);
      const float weight = weights[k];
      AVIDA_UNROLL
      for (int i = 0; i < run; i++) AVIDA_UNROLL
      for (int c = 0; c < wide; c++) add(sums[i][c], before[(i - k + run) % run][c] + after[(i + k) % run][c], weight);
    }
    AVIDA_DO_NOT_UNROLL
    for (int k = run + 1; k <= radius; k++) {
      const float weight = weights[k];
      AVIDA_UNROLL
      for (int i = 0; i < run; i++) {
        load(i - k, before[i]);
        load(i + k, after[i]);
        AVIDA_UNROLL
        for (int c = 0; c < wide; c++) add(sums[i][c], before[i][c] + after[i][c], weight);
      }
    }
  }

  // The words of sums have their rows in an order in which neither writing nor reading them meets the same bank twice:
  // first the first ones of all groups of rows, then the second ones.
  AVIDA_HD AVIDA_KERNEL_INLINE static void sum_down(const Params& params, Shared& shared, const Place& place,
                                                    int thread) {
    constexpr int kParts = kGroups / 4;  // each warp makes 4 groups of 8 quads
    const int lane = thread % 32, quads = quads_of(params, place), pitch = params.in_pitch;
    const int tasks = (quads + 7) / 8 * kParts, rows = rows_of(params, place);
    for (int task = thread / 32; task < tasks; task += kWarps) {
      const int group = task % kParts * 4 + lane / 8, quad = task / kParts * 8 + lane % 8;
      if (quad >= quads || group * kDown >= rows) continue;
      const unsigned* from = shared.words + (group * kDown + params.most_radius) * pitch + quad * (from_bytes ? 1 : 4);
      unsigned* to = shared.words + params.sums_at + group * params.sums_pitch + 4 * quad;
      AVIDA_UNROLL
      for (int term = 0; term < terms; term++) {
        const Window& window = params.windows[term][0];
        float sums[kDown][4];
        AVIDA_UNROLL
        for (int i = 0; i < kDown; i++) AVIDA_UNROLL
        for (int c = 0; c < 4; c++) sums[i][c] = window.start;
        add_window(sums, shared.weights[term][0], window.radius,
                   [&](int i, float (&four)[4]) { load_four(from + i * pitch, four); });
        AVIDA_UNROLL
        for (int i = 0; i < kDown; i += kDeep) AVIDA_UNROLL
        for (int c = 0; c < 4; c++)
          to[i / kDeep * kGroups * params.sums_pitch + c] =
              packed ? pack_halves(sums[i][c], sums[i + kDeep - 1][c]) : float_bits(sums[i][c]);
        to += params.sums_of_term;
      }
    }
  }

  // Threads make points side by side of one channel, in as many rows as words have.
  AVIDA_HD AVIDA_KERNEL_INLINE static void sum_along(const Params& params, Shared& shared, const Place& place,
                                                     int thread) {
    const int lane = thread % 32, inner = params.source.inner, elements = elements_of(params, place);
    int x = 0, channel = thread / 32;
    while (true) {
      for (; channel >= inner; channel -= inner) x += kAlong * inner;
      if (x >= elements) break;
      const unsigned* from = shared.words + params.sums_at + lane * params.sums_pitch + params.margin + x + channel;
      float sums[kAlong][kDeep];
      AVIDA_UNROLL
      for (int i = 0; i < kAlong; i++) AVIDA_UNROLL
      for (int d = 0; d < kDeep; d++) sums[i][d] = params.windows[0][1].start;
      AVIDA_UNROLL
      for (int term = 0; term < terms; term++) {
        add_window(sums, shared.weights[term][1], params.windows[term][1].radius,
                   [&](int i, float (&deep)[kDeep]) { load_deep(from[i * inner], deep); });
        from += params.sums_of_term;
      }
      AVIDA_UNROLL
      for (int i = 0; i < kAlong; i++) put(params, shared, lane, x + channel + i * inner, sums[i]);
      channel += kWarps;
    }
  }

  AVIDA_HD static AVIDA_INLINE void load_deep(unsigned word, float (&to)[kDeep]) {
    if constexpr (packed) {
      to[0] = biased_half<0>(word);
      to[1] = biased_half<1>(word);
    } else {
      to[0] = bits_float(word);
    }
  }

  AVIDA_HD static AVIDA_INLINE Out made(const Params& params, float sum) {
    if constexpr (same_type<T, Fixed>)
      return static_cast<Out>(float_bits(sum) >> kFixedBits);
    else if constexpr (same_type<T, Whole>)
      return convert<Out>((sum - kPackedZero) * params.scale);
    else
      return convert<Out>(sum);
  }

  // The bytes of two rows lie side by side, floats in one row after the other.
  AVIDA_HD static AVIDA_INLINE void put(const Params& params, Shared& shared, int lane, int x,
                                        const float (&sums)[kDeep]) {
    if constexpr (to_bytes) {
      const unsigned both = made(params, sums[0]) | static_cast<unsigned>(made(params, sums[1])) << 8;
      store_half(shared.words + lane * params.out_pitch, x, both);
    } else {
      AVIDA_UNROLL
      for (int d = 0; d < kDeep; d++)
        shared.words[(d * 32 + lane) * params.out_pitch + x] = float_bits(made(params, sums[d]));
    }
  }

  AVIDA_HD AVIDA_KERNEL_INLINE static void store(const Params& params, const Shared& shared, const Place& place,
                                                 int thread) {
    const int rows = rows_of(params, place), count = elements_of(params, place), n = params.source.row_elements;
    Out* tile = params.out + (place.first_row + place.y) * n + place.x;
    constexpr int kInWord = to_bytes ? 4 : 1;
    for (int i = thread % 32 * kInWord; i < count; i += 32 * kInWord) {
      if (!to_bytes || (params.out_words && i + kInWord <= count)) {
        AVIDA_UNROLL
        for (int k = 0; k < 32 / kWarps; k++)
          store_some<true>(params, shared, tile, thread / 32 + k * kWarps, i, rows, kInWord);
      } else {
        AVIDA_DO_NOT_UNROLL
        for (int k = 0; k < 32 / kWarps; k++)
          store_some<false>(params, shared, tile, thread / 32 + k * kWarps, i, rows, count - i);
      }
    }
  }

  // What `lane` has made, from element i of the tile's row on: a word, or up to `count` bytes.
  template <bool whole>
  AVIDA_HD static AVIDA_INLINE void store_some(const Params& params, const Shared& shared, Out* tile, int lane, int i,
                                               int rows, int count) {
    const int row = lane % kGroups * kDown + lane / kGroups * kDeep, n = params.source.row_elements;
    if (row >= rows) return;
    Out* to = tile + row * n + i;
    if constexpr (to_bytes) {
      const unsigned* from = shared.words + lane * params.out_pitch + i / 2;
      const unsigned low = from[0], high = from[1];
      store_word<whole>(to, pick_bytes(low, high, 0x6420), count);
      if (row + 1 < rows) store_word<whole>(to + n, pick_bytes(low, high, 0x7531), count);
    } else {
      AVIDA_UNROLL
      for (int d = 0; d < kDeep; d++)
        if (row + d < rows) to[d * n] = bits_float(shared.words[(d * 32 + lane) * params.out_pitch + i]);
    }
  }
};

}  // namespace avida
