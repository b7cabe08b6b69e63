// GPU bodies that resample images along both axes at once, in tiles. Read by NVRTC too: no std headers.
//
// A thread block filters the input rows of its tile along themselves into shared memory, and mixes them to output rows.
// The arithmetic of bytes is that of resample_bytes.h.
#pragma once
#include "device/byte_floats.h"
#include "device/byte_reader.h"
#include "device/convert.h"
#include "device/divide.h"
#include "loops/resampling/resample_item.h"

namespace avida {

// The weights of an axis as pairs of 16-bit integers, the second in the upper half. Pair k of output element i is at
// [k * out + i].
struct WeightPairs {
  const int* first;  // the input element that the first weight belongs to
  const unsigned* pairs;
  int count;  // of weights; the second of the last pair may be a zero
  int out;
};

// An item is an output element of an axis: what WeightPairs says of it.
struct WeightPairsItem {
  static constexpr const char* header = "loops/resampling/resample_tile.h";
  static constexpr bool kUsual = true;
  struct Params {
    ResampleAxis axis;
    const float* table;  // of the filter
    int count;           // of weights that are not zero by themselves
    int window;          // of all: as many elements from the first one on are inside of the input
    int* first;
    unsigned* pairs;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    const ResampleAxis& axis = params.axis;
    const ResampleWindow window = placed_window(axis, i);
    const int last = static_cast<int>(axis.in) - 1, count = params.count;
    const long before = -window.count, after = axis.in;  // outside of them, nothing changes
    const int begin = static_cast<int>(window.first < before ? before : window.first > after ? after : window.first);
    const int first = inside(begin, last + 1 - count), start = inside(begin, last + 1 - params.window);
    params.first[i] = start;
    float sum = 0;
    for (int k = 0; k < window.count; k++) sum += window_weight(axis, params.table, window, k);
    double total = 0;
    unsigned pair = 0;
    int k = 0;  // of the window
    for (int at = 0, rounded = 0; at < params.window || at % 2; at++) {
      const int element = start + at;
      short whole = 0;
      if (element >= first && element < first + count) {
        float weight = 0;  // elements outside of the input repeat its border
        for (; k < window.count && inside(begin + k, last) <= element; k++)
          weight += window_weight(axis, params.table, window, k);
        total += static_cast<double>(weight / sum);
        constexpr int one = 1 << bytes::kWeightBits;
        const int now = element + 1 == first + count ? one : convert<int>(total * one);
        whole = static_cast<short>(now - rounded);
        rounded = now;
      }
      pair = at % 2 ? pair | static_cast<unsigned>(whole) << 16 : static_cast<unsigned short>(whole);
      if (at % 2) params.pairs[static_cast<long>(at / 2) * axis.out + i] = pair;
    }
  }

 private:
  AVIDA_HD AVIDA_INLINE static int inside(int i, int last) { return i < 0 ? 0 : i > last ? last : i; }
};

// An item is a tile of the output.
template <int channels>
struct ResampleTile {
  static constexpr const char* header = "loops/resampling/resample_tile.h";
  static constexpr bool kUsual = channels == 3;
  static constexpr int kThreads = 256, kPhases = 2;
  static constexpr int kLanes = channels == 3 ? 4 : channels;             // numbers that a pixel takes in shared memory
  static constexpr int kColumns = channels > 2 ? 32 : 64, kInRows = 128;  // of a tile
  static constexpr int kWords = kColumns * kLanes / 2;                    // of a filtered row: two numbers in each
  // Filtered rows are kept as they are in resample_bytes.h, but moved up so that no number is negative: two can then be
  // multiplied in one word, see mix_rows().
  static constexpr int kUp = 1 << 13;

  struct Params {
    unsigned char* out;
    const unsigned char* in;
    WeightPairs rows, columns;  // columns: an even count, zeros included
    int in_rows, in_columns;
    int tile_rows, tiles_across, tiles;  // tiles: of an image
    unsigned across_inverse;
  };

  struct alignas(16) Shared {
    unsigned words[kInRows][kWords];
    int first_row;  // of the input
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const Tile tile(params, static_cast<unsigned>(item));
    if constexpr (phase == 1) return mix_rows(params, shared, tile, thread);
    switch (params.columns.count / 2) {
      case 1:
        return filter_rows<1>(params, shared, tile, thread);
      case 2:
        return filter_rows<2>(params, shared, tile, thread);
      case 3:
        return filter_rows<3>(params, shared, tile, thread);
      case 4:
        return filter_rows<4>(params, shared, tile, thread);
      default:
        return filter_rows<0>(params, shared, tile, thread);
    }
  }

 private:
  struct Tile {
    int image, x, y;  // where it begins
    int rows;         // that it makes

    AVIDA_HD AVIDA_INLINE Tile(const Params& params, unsigned item) : image(0) {
      if (item >= static_cast<unsigned>(params.tiles)) {
        image = item / params.tiles;
        item %= params.tiles;
      }
      const unsigned down = divided_by_inverse(item, params.across_inverse);
      x = (item - down * params.tiles_across) * kColumns;
      y = down * params.tile_rows;
      rows = y + params.tile_rows < params.rows.out ? params.tile_rows : params.rows.out - y;
    }
  };

  // ---- Along rows ---------------------------------------------------------------------------------------------------

  // The count of pixels of one column that a thread makes together, since they share weights. Their rows are a multiple
  // of four apart, so that they begin at the same byte of a word.
  static constexpr int kAtOnce = 4, kStep = kThreads / kColumns;
  static_assert(kStep % 4 == 0);
  using Reader = ByteReader<kAtOnce>;

  // The sums of products for one pixel.
  struct Sums {
    int sum[channels];

    AVIDA_HD AVIDA_INLINE Sums() {
      for (int& each : sum) each = (1 << (bytes::kRowShift - 1)) + (kUp << bytes::kRowShift);
    }

    // Adds the next two or four pixels.
    template <int taps>
    AVIDA_HD AVIDA_INLINE void add(const unsigned (&at)[(taps * channels + 3) / 4], const unsigned* weights) {
      if constexpr (channels == 1) {
        sum[0] = dot_low(weights[0], at[0], sum[0]);
        if constexpr (taps == 4) sum[0] = dot_high(weights[1], at[0], sum[0]);
      } else if constexpr (channels == 2) {
        for (int k = 0; k < taps / 2; k++) add_pair<0, 1>(pick_bytes(at[k], 0, 0x3120), weights[k], weights[k]);
      } else if constexpr (channels == 4) {
        for (int k = 0; k < taps / 2; k++) {
          add_pair<0, 1>(pick_bytes(at[2 * k], at[2 * k + 1], 0x5140), weights[k], weights[k]);
          add_pair<2, 3>(pick_bytes(at[2 * k], at[2 * k + 1], 0x7362), weights[k], weights[k]);
        }
      } else if constexpr (taps == 4) {
        add_pair<0, 2>(pick_bytes(at[0], at[2], 0x7430), weights[0], weights[1]);
        add_pair<1, 2>(pick_bytes(at[0], at[1], 0x5241), weights[0], weights[0]);
        add_pair<0, 1>(pick_bytes(at[1], at[2], 0x6352), weights[1], weights[1]);
      } else {
        add_pair<0, 1>(pick_bytes(at[0], at[1], 0x4130), weights[0], weights[0]);
        sum[2] = dot_low(weights[0], pick_bytes(at[0], at[1], 0x5252), sum[2]);
      }
    }

    // Two bytes of one channel and two of another.
    template <int a, int b>
    AVIDA_HD AVIDA_INLINE void add_pair(unsigned word, unsigned weights_a, unsigned weights_b) {
      sum[a] = dot_low(weights_a, word, sum[a]);
      sum[b] = dot_high(weights_b, word, sum[b]);
    }
  };

  // The next pixels of all rows. All loads are issued first, so that their latencies overlap.
  template <int taps>
  AVIDA_HD AVIDA_INLINE static void add(Sums (&sums)[kAtOnce], Reader& reader, const unsigned* weights, bool more) {
    constexpr int n = taps * channels;
    const auto read = reader.template read<n>(more);
    for (int j = 0; j < kAtOnce; j++) {
      unsigned at[(n + 3) / 4];
      reader.template align<n>(at, read.words[j]);
      sums[j].template add<taps>(at, weights);
    }
  }

  // `known`: how many pairs of weights there are; 0 where only the parameters tell.
  template <int known>
  AVIDA_HD AVIDA_INLINE static void filter_rows(const Params& params, Shared& shared, const Tile& tile, int thread) {
    const int* first = params.rows.first + tile.y;
    const int a = read_only(first), b = read_only(first + tile.rows - 1);  // in either order
    const int first_row = a < b ? a : b, in_rows = (a < b ? b : a) - first_row + params.rows.count;
    if (thread == 0) shared.first_row = first_row;

    const WeightPairs& columns = params.columns;
    const int column = static_cast<unsigned>(thread) % kColumns, row = static_cast<unsigned>(thread) / kColumns;
    const int x = tile.x + column < columns.out ? tile.x + column : columns.out - 1;
    const int row_bytes = params.in_columns * channels;
    const unsigned char* in = params.in + (static_cast<long>(tile.image) * params.in_rows + first_row) * row_bytes +
                              (row * row_bytes + read_only(columns.first + x) * channels);
    const unsigned* pairs = columns.pairs + x;
    unsigned weights[known ? known : 2];
    for (int k = 0; k < known; k++) weights[k] = read_only(pairs + k * columns.out);
    unsigned* to = &shared.words[row][word_at(column)];
    for (int left = in_rows - row; left > 0; left -= kAtOnce * kStep) {
      int rows_at[kAtOnce];
      for (int j = 0; j < kAtOnce; j++) rows_at[j] = j * kStep < left ? j * kStep * row_bytes : 0;
      Reader reader(in, rows_at);
      Sums sums[kAtOnce];
      if constexpr (known == 0) {
        const int count = columns.count / 2;
        for (int k = 0; k < count; k += 2) {
          weights[0] = read_only(pairs + k * columns.out);
          if (k + 1 == count) {
            add<2>(sums, reader, weights, false);
            break;
          }
          weights[1] = read_only(pairs + (k + 1) * columns.out);
          add<4>(sums, reader, weights, k + 2 < count);
        }
      } else {
        if constexpr (known >= 2) add<4>(sums, reader, weights, known > 2);
        if constexpr (known == 4) add<4>(sums, reader, weights + 2, false);
        if constexpr (known % 2) add<2>(sums, reader, weights + known - 1, false);
      }
      for (int j = 0; j < kAtOnce; j++)
        if (j * kStep < left) keep(to + j * kStep * kWords, column % 2, sums[j].sum);
      in += kAtOnce * kStep * row_bytes;
      to += kAtOnce * kStep * kWords;
    }
  }

  // The index of a pixel's word in a filtered row. Of four words, two pixels of four numbers, the even ones come before
  // the odd ones, which are swizzled: whether threads write pixels or read four words for two pairs of pixels, there
  // are no bank conflicts.
  AVIDA_HD AVIDA_INLINE static int word_at(int column) {
    if constexpr (kLanes < 4) return column * kLanes / 2;
    return unit_of(column / 2) * 4 + column % 2 * 2;
  }
  AVIDA_HD AVIDA_INLINE static int unit_of(int pair) { return pair % 2 ? 8 + (pair / 2 ^ 4) : pair / 2; }

  // `half`: of the word, where a pixel is less than one.
  AVIDA_HD AVIDA_INLINE static void keep(unsigned* to, int half, const int (&sum)[channels]) {
    static_assert(bytes::kRowShift == 8);  // the middle bytes of a sum are the number
    if constexpr (channels == 1) {
      store_half(to, half, static_cast<unsigned>(sum[0]) >> 8);
    } else if constexpr (channels == 2) {
      *to = pick_bytes(sum[0], sum[1], 0x6521);
    } else {
      const unsigned upper =
          channels == 3 ? static_cast<unsigned>(sum[2]) >> 8 : pick_bytes(sum[2], sum[channels - 1], 0x6521);
      store_aligned(to, AlignedWords<2>{{pick_bytes(sum[0], sum[1], 0x6521), upper}});
    }
  }

  // ---- Across rows --------------------------------------------------------------------------------------------------

  // A thread makes four pixels of a row. Words of two numbers are multiplied as they are, and their upper numbers by
  // themselves; what the lower ones alone come to is the difference.
  AVIDA_HD AVIDA_INLINE static void mix_rows(const Params& params, const Shared& shared, const Tile& tile, int thread) {
    constexpr int across = kColumns / 4, words = 2 * kLanes, unit = words < 4 ? words : 4;
    constexpr unsigned start = (1u << (bytes::kOutShift - 1)) - (static_cast<unsigned>(kUp) << bytes::kWeightBits);
    const WeightPairs& rows = params.rows;
    const int column = static_cast<unsigned>(thread) % across * 4, left = params.columns.out - tile.x - column;
    if (left <= 0) return;
    const int row_bytes = params.columns.out * channels;
    unsigned char* out =
        params.out + (static_cast<long>(tile.image) * rows.out + tile.y) * row_bytes + (tile.x + column) * channels;
    for (int y = static_cast<unsigned>(thread) / across; y < tile.rows; y += kThreads / across) {
      const int row = read_only(rows.first + tile.y + y) - shared.first_row;
      const unsigned* from[words / unit];
      for (int u = 0; u < words / unit; u++) from[u] = &shared.words[row][word_at(column + 2 * u)];
      unsigned both[words], upper[words];
      for (int k = 0; k < words; k++) both[k] = start + (start << 16), upper[k] = start;
      auto add = [&](int weight) {
        for (int u = 0; u < words / unit; u++) {
          const auto read = load_aligned<unit>(from[u]);
          for (int k = 0; k < unit; k++) {
            both[u * unit + k] += read.at[k] * static_cast<unsigned>(weight);
            if (channels != 3 || k % 2 == 0) upper[u * unit + k] += (read.at[k] >> 16) * static_cast<unsigned>(weight);
          }
          from[u] += kWords;
        }
      };
      const unsigned* pairs = rows.pairs + tile.y + y;
      for (int k = 0; k + 1 < rows.count; k += 2, pairs += rows.out) {
        const unsigned pair = read_only(pairs);
        add(static_cast<short>(pair));
        add(static_cast<int>(pair) >> 16);
      }
      if (rows.count % 2) add(static_cast<short>(read_only(pairs)));
      put(out + y * row_bytes, left < 4 ? left : 4, both, upper);
    }
  }

  AVIDA_HD AVIDA_INLINE static void put(unsigned char* to, int pixels, const unsigned (&both)[2 * kLanes],
                                        const unsigned (&upper)[2 * kLanes]) {
    int made[4 * channels];
    for (int k = 0; k < 2 * kLanes; k++) {
      const int at = channels == 3 ? k / 2 * 3 + k % 2 * 2 : 2 * k;
      made[at] = static_cast<int>(both[k] - (upper[k] << 16)) >> bytes::kOutShift;
      if (channels != 3 || k % 2 == 0) made[at + 1] = static_cast<int>(upper[k]) >> bytes::kOutShift;
    }
    unsigned words[channels];
    for (int k = 0; k < channels; k++)
      words[k] = saturated_bytes(made[4 * k], made[4 * k + 1], made[4 * k + 2], made[4 * k + 3]);
    store_some_bytes(to, words, pixels * channels);
  }
};

// ---- Floats ---------------------------------------------------------------------------------------------------------

// The weights of an axis as TapsItem makes them.
struct FloatTaps {
  const int* first;
  const float* weights;
  int count, out;
};

// The same for images that become floats, of any number of channels up to kRow. An item is a tile of the output; a
// thread makes elements rather than pixels. The arithmetic is that of ResampleItem.
template <class From>
struct ResampleFloatTile {
  static constexpr const char* header = "loops/resampling/resample_tile.h";
  static constexpr int kThreads = 256, kPhases = 2;
  static constexpr int kRow = 128, kInRows = 80;  // elements and rows that a tile keeps

  struct Params {
    float* out;
    const From* in;
    FloatTaps rows, columns;
    int in_rows, in_columns, channels;
    int tile_rows, tile_columns, tiles_across, tiles;  // tiles: of an image
  };

  struct Shared {
    float rows[kInRows][kRow];
    int first_row;  // of the input
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const unsigned image = static_cast<unsigned>(item) / params.tiles;
    const unsigned in_image = static_cast<unsigned>(item) - image * params.tiles, down = in_image / params.tiles_across;
    const int x = (in_image - down * params.tiles_across) * params.tile_columns, y = down * params.tile_rows;
    const int left = params.columns.out - x, element = static_cast<unsigned>(thread) % kRow;
    const int rows = params.rows.out - y < params.tile_rows ? params.rows.out - y : params.tile_rows;
    if (element >= (left < params.tile_columns ? left : params.tile_columns) * params.channels) return;
    const int group = static_cast<unsigned>(thread) / kRow;
    if constexpr (phase == 0)
      filter(params, shared, image, x, y, rows, element, group);
    else
      mix(params, shared, image, x, y, rows, element, group);
  }

 private:
  static constexpr int kGroups = kThreads / kRow, kAtOnce = 4;

  AVIDA_HD AVIDA_INLINE static float read(const From* from) {
    if constexpr (same_type<From, float>)
      return read_only(from);
    else
      return float_of_byte(read_only(from));
  }

  // An element of some rows at once, since they share weights.
  AVIDA_HD AVIDA_INLINE static void filter(const Params& params, Shared& shared, int image, int x, int y, int rows,
                                           int element, int group) {
    const int* first = params.rows.first + y;
    const int a = read_only(first), b = read_only(first + rows - 1);  // in either order
    const int first_row = a < b ? a : b, in_rows = (a < b ? b : a) - first_row + params.rows.count;
    if (element == 0 && group == 0) shared.first_row = first_row;
    const int channels = params.channels, column = static_cast<unsigned>(element) / static_cast<unsigned>(channels);
    const int row_step = params.in_columns * channels, count = params.columns.count;
    const From* in = params.in + (static_cast<long>(image) * params.in_rows + first_row + group) * row_step +
                     ((read_only(params.columns.first + x + column) - column) * channels + element);
    const float* weights = params.columns.weights + (x + column) * count;
    for (int row = group; row < in_rows; row += kAtOnce * kGroups) {
      const From* from[kAtOnce];
      float sum[kAtOnce];
      for (int j = 0; j < kAtOnce; j++) {
        from[j] = in + (row + j * kGroups < in_rows ? j * kGroups * row_step : 0);
        sum[j] = 0;
      }
      for (int k = 0; k < count; k++) {
        const float weight = read_only(weights + k);
        for (int j = 0; j < kAtOnce; j++) sum[j] += read(from[j] + k * channels) * weight;
      }
      for (int j = 0; j < kAtOnce; j++)
        if (row + j * kGroups < in_rows) shared.rows[row + j * kGroups][element] = sum[j];
      in += kAtOnce * kGroups * row_step;
    }
  }

  AVIDA_HD AVIDA_INLINE static void mix(const Params& params, const Shared& shared, int image, int x, int y, int rows,
                                        int element, int group) {
    const FloatTaps& taps = params.rows;
    const int row_step = params.columns.out * params.channels, first_row = shared.first_row;
    float* out = params.out + (static_cast<long>(image) * taps.out + y) * row_step + (x * params.channels + element);
    for (int row = group; row < rows; row += kGroups) {
      const float* from = &shared.rows[read_only(taps.first + y + row) - first_row][element];
      const float* weights = taps.weights + (y + row) * taps.count;
      float sum = 0;
      for (int k = 0; k < taps.count; k++) sum += from[k * kRow] * read_only(weights + k);
      out[row * row_step] = sum;
    }
  }
};

}  // namespace avida
