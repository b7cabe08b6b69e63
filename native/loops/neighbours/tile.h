// Loads tiles of images into shared memory, with what lies beyond the border, and stores words.
#pragma once
#include "device/border.h"
#include "device/convert.h"
#include "device/words.h"
#include "loops/items/kernel_inline.h"

namespace avida {

// The images that tiles are loaded from, of bytes or floats. Offsets in an image fit 32 bits.
template <class In>
struct TileSource {
  static constexpr int kInWord = sizeof(In) == 1 ? 4 : 1;
  const In* in;
  int height, row_elements, inner;
  bool in_words;  // rows of bytes are aligned to words
  Border border;
  In fill;
};

// A tile with its margins: its first element, which may lie beyond the border, and how much it has.
struct TileSpan {
  int y, x;  // x is a multiple of four elements
  int rows, words;
};

// Where the rows are in the image; -1: nothing, fill. What comes next needs a phase of its own.
template <int threads, class In>
AVIDA_HD AVIDA_INLINE void find_rows(const TileSource<In>& source, const TileSpan& span, int* row_at, int thread) {
  AVIDA_DO_NOT_UNROLL
  for (int row = thread; row < span.rows; row += threads) {
    const int y = border_index(source.border, span.y + row, source.height);
    row_at[row] = y < 0 ? -1 : y * source.row_elements;
  }
}

template <class In>
AVIDA_HD AVIDA_INLINE unsigned fill_word(const TileSource<In>& source) {
  if constexpr (sizeof(In) == 1)
    return static_cast<unsigned>(source.fill) * 0x01010101u;
  else
    return float_bits(source.fill);
}

// A word that reaches beyond the border.
template <class In>
AVIDA_HD AVIDA_KERNEL_INLINE unsigned load_beyond(const TileSource<In>& source, const In* row, int x) {
  const int inner = source.inner, width = source.row_elements / inner;
  unsigned word = 0;
  AVIDA_DO_NOT_UNROLL
  for (int k = 0; k < TileSource<In>::kInWord; k++) {
    int point = (x + k) / inner, c = (x + k) % inner;
    if (c < 0) point--, c += inner;
    point = border_index(source.border, point, width);
    const In element = point < 0 ? source.fill : row[point * inner + c];
    if constexpr (sizeof(In) == 1)
      word |= static_cast<unsigned>(element) << 8 * k;
    else
      word = float_bits(element);
  }
  return word;
}

// The word that begins at an element.
template <bool in_words, class In>
AVIDA_HD AVIDA_INLINE unsigned load_word(const In* from) {
  if constexpr (sizeof(In) == 4) {
    return float_bits(read_only(from));
  } else {
    unsigned word[1];
    load_words<in_words ? 4 : 1>(from, word);
    return word[0];
  }
}

// Column number i of a tile's words, from `row` on, by one thread of each warp.
template <int threads, bool fills, bool in_words, class In>
AVIDA_HD AVIDA_INLINE void load_column(const TileSource<In>& source, const In* column, const int* row_at, int row,
                                       int rows, unsigned* to, int pitch) {
  constexpr int kAtOnce = 8, kStep = threads / 32;
  const unsigned filled = fill_word(source);
  for (; row < rows; row += kAtOnce * kStep) {
    unsigned loaded[kAtOnce];
    AVIDA_UNROLL
    for (int k = 0; k < kAtOnce; k++)
      if (row + k * kStep < rows) {
        const int at = row_at[row + k * kStep];
        loaded[k] = load_word<in_words>(column + (fills && at < 0 ? 0 : at));
        if (fills && at < 0) loaded[k] = filled;
      }
    AVIDA_UNROLL
    for (int k = 0; k < kAtOnce; k++)
      if (row + k * kStep < rows) to[(row + k * kStep) * pitch] = loaded[k];
  }
}

// Warps take rows, so that threads read words side by side; each keeps several loads in flight. Words that reach beyond
// the border come after. Borders may be filled only where that is said.
template <int threads, bool fills, class In>
AVIDA_HD AVIDA_KERNEL_INLINE void load_tile(const TileSource<In>& source, const In* image, const TileSpan& span,
                                            const int* row_at, unsigned* to, int pitch, int thread) {
  constexpr int kInWord = TileSource<In>::kInWord;
  int first = span.x < 0 ? -span.x / kInWord : 0, end = (source.row_elements - span.x) / kInWord;  // words inside
  end = end < span.words ? end : span.words;
  first = first < end ? first : end;
  for (int i = first + thread % 32; i < end; i += 32) {
    const In* column = image + span.x + i * kInWord;
    if (source.in_words)
      load_column<threads, fills, true>(source, column, row_at, thread / 32, span.rows, to + i, pitch);
    else
      load_column<threads, fills, false>(source, column, row_at, thread / 32, span.rows, to + i, pitch);
  }
  const int outside = span.words - end + first;
  AVIDA_DO_NOT_UNROLL
  for (int i = thread; i < outside * span.rows; i += threads) {
    const int row = i / outside, k = i % outside, word = k < first ? k : k - first + end, at = row_at[row];
    to[row * pitch + word] =
        fills && at < 0 ? fill_word(source) : load_beyond(source, image + at, span.x + word * kInWord);
  }
}

// A whole word, to where words begin; or up to `count` of its bytes.
template <bool whole>
AVIDA_HD AVIDA_INLINE void store_word(unsigned char* to, unsigned word, int count) {
  if constexpr (whole) {
    *reinterpret_cast<unsigned*>(to) = word;
  } else {
    AVIDA_DO_NOT_UNROLL
    for (int k = 0; k < 4 && k < count; k++) to[k] = static_cast<unsigned char>(word >> 8 * k);
  }
}

}  // namespace avida
