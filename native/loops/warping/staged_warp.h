// Affine warps of images of bytes on a GPU, with linear interpolation, from boxes of the input in shared memory.
// Each thread block makes a tile as WarpTile does, but copies the box that it reads first. Positions and weights are
// integers; results are within 1 of WarpTile's. Images whose boxes fit come here: see find_box().
#pragma once
#include "loops/warping/warp_tile.h"

namespace avida {

// What the boxes of all tiles have in common. Positions are counted in units of 2^-24 pixels. A box is less than 2^8
// pixels wide and high, so that positions in it fit 32 bits.
struct WarpBox {
  static constexpr int kBits = 24;
  static constexpr int kChunk = 8;         // pixels of a row that are copied at once: a box has whole chunks
  static constexpr int kMostWords = 6400;  // a pixel is a word

  long origin[2];                   // the position (x, y) of the output's first pixel
  int step[2][2];                   // of x and of y: to the next column, to the next row of the output
  int low[2];                       // from the position of a tile's first pixel to the least x and y in the tile
  unsigned chunks, chunks_inverse;  // side by side
  unsigned rows, pitch;             // pitch: words from one row to the next, an even number
};

// How much of a pixel comes from each of the four around a position: 65535 parts in all.
struct CornerWeights {
  unsigned upper, lower;  // the left in the lower half, the right in the upper

  // `right` and `below` are parts of 65536. Their product is rounded up, so that no weight is negative.
  AVIDA_HD AVIDA_INLINE CornerWeights(unsigned right, unsigned below) {
    const unsigned both = (right * below + 0xffff) >> 16;
    lower = both * 0xffff + below;
    upper = right * 0xffff + 0xffff - lower;
  }

  // The mixture of two bytes {left, right} above and two below, the first or the last two of words: in bits 16 to 23.
  // What is added rounds halves up, and more than makes up for the one part of 65536 that the weights lack.
  template <bool high>
  AVIDA_HD AVIDA_INLINE unsigned mix(unsigned above, unsigned below) const {
    return dot<high>(upper, above, dot<high>(lower, below, 0x8100));
  }

 private:
  // sum + the products of two halves, without signs, with two bytes of a word.
  template <bool high>
  AVIDA_HD AVIDA_INLINE static unsigned dot(unsigned halves, unsigned word, unsigned sum) {
#ifdef __CUDA_ARCH__
    unsigned made;
    if constexpr (high)
      asm("dp2a.hi.u32.u32 %0, %1, %2, %3;" : "=r"(made) : "r"(halves), "r"(word), "r"(sum));
    else
      asm("dp2a.lo.u32.u32 %0, %1, %2, %3;" : "=r"(made) : "r"(halves), "r"(word), "r"(sum));
    return made;
#else
    if (high) word >>= 16;
    return sum + (halves & 0xffff) * (word & 0xff) + (halves >> 16) * (word >> 8 & 0xff);
#endif
  }
};

template <int channels>
struct StagedWarp {
  static constexpr const char* header = "loops/warping/staged_warp.h";
  using Tile = TilePixels<unsigned char, channels>;
  using Box = WarpBox;

  static constexpr int kThreads = Tile::kThreads, kPhases = 3, kBlocks = 6;

  struct Params {
    WarpTiles tile;
    Box box;
  };
  struct Shared {
    alignas(16) unsigned box[Box::kMostWords];
    typename Tile::Shared tile;
  };

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& given, Shared& shared, long item, int thread) {
    const Params params = given;  // read once
    const typename Tile::Area area(params.tile, item);
    if constexpr (phase == 0)
      copy(params, Corner(params.box, area), shared.box, thread);
    else if constexpr (phase == 1)
      make(params, Corner(params.box, area), area, shared, thread);
    else
      Tile::write(params.tile, shared.tile, area, thread);
  }

 private:
  // The first pixel of a tile's box, and where the first of the tile lies in the box.
  struct Corner {
    int first[2];
    unsigned at[2];
    AVIDA_HD AVIDA_INLINE Corner(const Box& box, const typename Tile::Area& area) {
      AVIDA_UNROLL
      for (int d = 0; d < 2; d++) {
        const long place =
            box.origin[d] + static_cast<long>(area.x) * box.step[d][0] + static_cast<long>(area.y) * box.step[d][1];
        first[d] = static_cast<int>((place + box.low[d]) >> Box::kBits) & (d == 0 ? -Box::kChunk : -1);
        at[d] = static_cast<unsigned>(place) - (static_cast<unsigned>(first[d]) << Box::kBits);
      }
    }
  };

  // Pixels beyond the border are found here, so that those of the output need not look.
  AVIDA_HD AVIDA_INLINE static void copy(const Params& params, const Corner& corner, unsigned* to, int thread) {
    const auto& [tile, box] = params;
    const int right = corner.first[0] + static_cast<int>(box.chunks * Box::kChunk);
    const int bottom = corner.first[1] + static_cast<int>(box.rows);
    if (corner.first[0] >= 0 && corner.first[1] >= 0 && right <= tile.in_size[0] && bottom <= tile.in_size[1] &&
        (address_of(tile.in) | tile.in_row) % 8 == 0)
      copy_chunks<true>(params, corner, to, thread);
    else
      copy_chunks<false>(params, corner, to, thread);
  }

  // `simple`: all of them are inside, at addresses that eight divides.
  template <bool simple>
  AVIDA_HD AVIDA_KERNEL_INLINE static void copy_chunks(const Params& params, const Corner& corner, unsigned* to,
                                                       int thread) {
    const auto& [tile, box] = params;
    AVIDA_DO_NOT_UNROLL
    for (unsigned i = static_cast<unsigned>(thread); i < box.chunks * box.rows; i += kThreads) {
      const unsigned down = divided_by_inverse(i, box.chunks_inverse), across = (i - down * box.chunks) * Box::kChunk;
      const int x = corner.first[0] + static_cast<int>(across), y = corner.first[1] + static_cast<int>(down);
      const unsigned from = static_cast<unsigned>(y) * tile.in_row + static_cast<unsigned>(x) * channels;  // if inside
      unsigned* chunk = to + (down * box.pitch + across);
      unsigned words[Box::kChunk * channels / 4];
      if constexpr (simple) {
        AVIDA_UNROLL
        for (int k = 0; k < channels; k++) {
          const unsigned long two = read_only(reinterpret_cast<const unsigned long*>(tile.in + from) + k);
          words[2 * k] = static_cast<unsigned>(two), words[2 * k + 1] = static_cast<unsigned>(two >> 32);
        }
        spread(words, chunk);
      } else if (x >= 0 && x <= tile.in_size[0] - Box::kChunk && y >= 0 && y < tile.in_size[1]) {
        load_words(tile.in + from, words);
        spread(words, chunk);
      } else {
        copy_at_border(tile, x, y, chunk);
      }
    }
  }

  // A pixel to each word; what else the word holds does not matter.
  AVIDA_HD AVIDA_INLINE static void spread(const unsigned (&words)[Box::kChunk * channels / 4], unsigned* to) {
    auto pixel = [&](int k) {
      const unsigned first = static_cast<unsigned>(k * channels), last = first + channels - 1;
      return word_between(words[first / 4], last / 4 > first / 4 ? words[last / 4] : 0, first % 4 * 8);
    };
    AVIDA_UNROLL
    for (int k = 0; k < Box::kChunk; k += 2) store_aligned(to + k, AlignedWords<2>{pixel(k), pixel(k + 1)});
  }

  AVIDA_HD AVIDA_KERNEL_INLINE static void copy_at_border(const WarpTiles& tile, int x, int y, unsigned* to) {
    auto word_at = [](const char* pixel) {
      unsigned word = 0;
      for (int c = 0; c < channels; c++) word |= static_cast<unsigned>(Tile::load(pixel + c)) << 8 * c;
      return word;
    };
    const int row = Tile::index_of(tile, y, 1);
    if (tile.border == Border::fill && (row < 0 || x <= -Box::kChunk || x >= tile.in_size[0])) {
      const unsigned fill = word_at(static_cast<const char*>(tile.fill));
      AVIDA_UNROLL
      for (int k = 0; k < Box::kChunk; k += 2) store_aligned(to + k, AlignedWords<2>{fill, fill});
      return;
    }
    AVIDA_DO_NOT_UNROLL
    for (int k = 0; k < Box::kChunk; k++) to[k] = word_at(Tile::pixel_at(tile, Tile::index_of(tile, x + k, 0), row));
  }

  // A thread makes four pixels side by side, a warp four rows of 32, then the same sixteen rows below. Some of the four
  // may lie beyond the output: the box has their positions, and the tile's row has room.
  AVIDA_HD AVIDA_KERNEL_INLINE static void make(const Params& params, const Corner& corner,
                                                const typename Tile::Area& area, Shared& shared, int thread) {
    const Box& box = params.box;
    const int column = 4 * (thread / 32 % 2 * 8 + thread % 8);
    if (column >= area.columns) return;
    int row = thread / 64 * 4 + thread % 32 / 8;
    unsigned at[2];
    for (int d = 0; d < 2; d++)
      at[d] = corner.at[d] + static_cast<unsigned>(column * box.step[d][0] + row * box.step[d][1]);
    unsigned to = Tile::skew(area.out) + static_cast<unsigned>(row) * params.tile.tile_row +
                  static_cast<unsigned>(column) * channels;
    AVIDA_DO_NOT_UNROLL
    for (; row < area.rows; row += 16, to += 16 * params.tile.tile_row) {
      unsigned made[4 * channels];
      AVIDA_UNROLL
      for (int k = 0; k < 4; k++)
        mix_pixel(box, shared.box, at[0] + static_cast<unsigned>(k * box.step[0][0]),
                  at[1] + static_cast<unsigned>(k * box.step[1][0]), made + k * channels);
      for (int d = 0; d < 2; d++) at[d] += static_cast<unsigned>(16 * box.step[d][1]);
      store(made, shared.tile.bytes, to);
    }
  }

  AVIDA_HD AVIDA_INLINE static void mix_pixel(const Box& box, const unsigned* pixels, unsigned x, unsigned y,
                                              unsigned* made) {
    const unsigned *upper = pixels + ((y >> Box::kBits) * box.pitch + (x >> Box::kBits)), *lower = upper + box.pitch;
    const CornerWeights weights(pick_bytes(x, 0, 0x4421), pick_bytes(y, 0, 0x4421));
    AVIDA_UNROLL
    for (int c = 0; c < channels; c += 2) {  // left and right of one channel, then of the next
      const unsigned order = c == 0 ? 0x5140 : 0x7362;
      const unsigned above = pick_bytes(upper[0], upper[1], order), below = pick_bytes(lower[0], lower[1], order);
      made[c] = weights.mix<false>(above, below);
      if (c + 1 < channels) made[c + 1] = weights.mix<true>(above, below);
    }
  }

  // Byte 2 of each of them.
  AVIDA_HD AVIDA_INLINE static void store(const unsigned (&made)[4 * channels], unsigned char* bytes, unsigned to) {
    unsigned words[channels];
    AVIDA_UNROLL
    for (int k = 0; k < channels; k++)
      words[k] = pick_bytes(pick_bytes(made[4 * k], made[4 * k + 1], 0x0062),
                            pick_bytes(made[4 * k + 2], made[4 * k + 3], 0x0062), 0x5410);
    if (to % 4 == 0) {
      AVIDA_UNROLL
      for (int k = 0; k < channels; k++) store_aligned(bytes + (to + 4 * k), AlignedWords<1>{words[k]});
    } else {
      AVIDA_UNROLL
      for (int k = 0; k < 4 * channels; k++) bytes[to + k] = static_cast<unsigned char>(part_of<1>(words, k));
    }
  }
};

}  // namespace avida
