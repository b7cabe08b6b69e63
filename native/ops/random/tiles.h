// Many random numbers of one sample, on the CPU: a tile at a time (see drawn_index).
#pragma once
#include <algorithm>

#include "loops/moving/convert_run.h"
#include "operator/sample.h"
#include "ops/random/distributions.h"

namespace avida::ops {

constexpr int64_t kDrawRow = 4096;  // elements; a multiple of any tile

inline int64_t draw_rows(int64_t elements) { return (elements + kDrawRow - 1) / kDrawRow; }

// The blocks of a tile, word by word.
struct PhiloxTile {
  unsigned word[4][kLanes];

  AVIDA_INLINE PhiloxTile(const RandomKey& key, int64_t tile) {
    const unsigned first = static_cast<unsigned>(tile) * kLanes;
    for (unsigned lane = 0; lane < kLanes; lane++) {
      PhiloxBlock block = random_block(key, first + lane);
      for (int i = 0; i < 4; i++) word[i][lane] = block.word[i];
    }
  }
  AVIDA_INLINE PhiloxBlock block(int lane) const {
    return {{word[0][lane], word[1][lane], word[2][lane], word[3][lane]}};
  }
};

// The numbers of the elements [first, first + n); `first` is a multiple of kDrawRow. To be called from an AVIDA_CLONES
// function.
template <class Draw, class Number = typename Draw::Number>
AVIDA_INLINE void draw_run(Number* out, const RandomKey& key, int64_t first, int64_t n, const Draw& draw) {
  constexpr int per_block = kPerBlock<Number>, per_tile = per_block * kLanes;
  for (int64_t done = 0; done < n; done += per_tile) {
    const PhiloxTile tile(key, (first + done) / per_tile);
    Number drawn[per_tile];
    for (int lane = 0; lane < kLanes; lane++) {
      Number numbers[per_block];
      draw(tile.block(lane), numbers);
      for (int i = 0; i < per_block; i++) drawn[i * kLanes + lane] = numbers[i];
    }
    std::copy_n(drawn, std::min<int64_t>(per_tile, n - done), out + done);
  }
}

// The same for the distributions that operators draw from.
void draw_numbers(float* out, const RandomKey& key, int64_t first, int64_t n, const Uniform<float>& draw);
void draw_numbers(double* out, const RandomKey& key, int64_t first, int64_t n, const Uniform<double>& draw);
void draw_numbers(float* out, const RandomKey& key, int64_t first, int64_t n, const Normal<float>& draw);
void draw_numbers(double* out, const RandomKey& key, int64_t first, int64_t n, const Normal<double>& draw);
void draw_numbers(int* out, const RandomKey& key, int64_t first, int64_t n, const CoinFlip& draw);
void draw_numbers(double* out, const RandomKey& key, int64_t first, int64_t n, const Units& draw);
void draw_numbers(double* out, const RandomKey& key, int64_t first, int64_t n, const Chosen& draw);
void draw_numbers(double* out, const RandomKey& key, int64_t first, int64_t n, const Beta& draw);
// Integers in [0, count), each equally likely.
void draw_indices(int64_t* out, const RandomKey& key, int64_t first, int64_t n, int64_t count);

// Fills rows [begin, end) of the output. run(out, first, n) makes Numbers, which are converted to its element type.
template <class Number, class Run>
void fill_drawn(const SampleView& out, int64_t begin, int64_t end, Run run) {
  const bool direct = out.dtype == dtype_of<Number>;
  const ConvertRun convert = rounding_run(out.dtype, dtype_of<Number>);
  alignas(64) Number drawn[kDrawRow];
  for (int64_t first = begin * kDrawRow, last = std::min(end * kDrawRow, out.elements()); first < last;
       first += kDrawRow) {
    int64_t n = std::min(kDrawRow, last - first);
    run(direct ? out.as<Number>() + first : drawn, first, n);
    if (!direct) convert(out.as<char>() + first * size_of(out.dtype), drawn, n);
  }
}

}  // namespace avida::ops
