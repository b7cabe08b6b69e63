// The kernels that move rows in contiguous pieces: copied, reversed, channels split or joined. Read by NVRTC too.
#pragma once
#include "device/divide.h"
#include "device/words.h"

namespace avida {

constexpr int kRowAxes = 3;  // around rows

// Rows of `elements` elements each, in pieces. The first piece may begin before the row, so that stores are aligned.
struct RowPlaces {
  char* out;
  const char* in;
  Divisor pieces;  // of a row
  long elements;   // of a row
  Divisor extent[kRowAxes];
  long out_step[kRowAxes], in_step[kRowAxes];  // bytes

  // The piece that item i is, and its row.
  AVIDA_HD AVIDA_INLINE unsigned find(long i, char*& to, const char*& from) const {
    unsigned rest = pieces(static_cast<unsigned>(i));
    const unsigned piece = pieces.rest(static_cast<unsigned>(i), rest);
    to = out, from = in;
    for (int d = kRowAxes - 1; d > 0; d--) {
      if (extent[d].by == 1) continue;
      const unsigned next = extent[d](rest), at = extent[d].rest(rest, next);
      rest = next;
      to += at * out_step[d];
      from += at * in_step[d];
    }
    to += rest * out_step[0];
    from += rest * in_step[0];
    return piece;
  }
};

// An item is 16 bytes of a row.
struct CopyRows {
  static constexpr const char* header = "loops/moving/row_items.h";
  static constexpr int kPiece = 16;
  using Params = RowPlaces;

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    char* out;
    const char* in;
    const unsigned piece = params.find(i, out, in);
    const long first = static_cast<long>(piece) * kPiece - lead_of<1, kPiece, kPiece>(out), bytes = params.elements;
    auto whole = [&] {
      unsigned words[kPiece / 4];
      load_words(in + first, words);
      store_words<kPiece>(out + first, words);
    };
    make_piece<kPiece>(first, bytes, whole, [&](long b) { out[b] = in[b]; });
  }
};

// Elements of `size` bytes in reverse order: `in` is the last one of the input.
template <int size>
struct ReversedRows {
  static constexpr const char* header = "loops/moving/row_items.h";
  static constexpr int kBytes = size % 3 == 0 ? 12 : 16, kPiece = kBytes / size, kAligned = size % 3 == 0 ? 4 : 16;
  using Params = RowPlaces;

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    char* out;
    const char* in;
    const unsigned piece = params.find(i, out, in);
    const long first = static_cast<long>(piece) * kPiece - lead_of<size, kAligned, kPiece>(out);
    const long elements = params.elements;
    auto whole = [&] {
      unsigned words[kBytes / 4], reversed[kBytes / 4] = {};
      load_words(in - (first + kPiece - 1) * size, words);
      constexpr int part = size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1, parts = size / part;
      for (int k = 0; k < kPiece * parts; k++)
        add_part<part>(reversed, k, part_of<part>(words, (kPiece - 1 - k / parts) * parts + k % parts));
      store_words(out + first * size, reversed);
    };
    make_piece<kPiece>(first, elements, whole, [&](long e) {
      for (int b = 0; b < size; b++) out[e * size + b] = in[b - e * size];
    });
  }
};

// The same for elements of three bytes, in pieces of 16 bytes: six elements lie in each, of which the first and the
// last are cut. `elements` counts bytes.
struct ReversedTriples {
  static constexpr const char* header = "loops/moving/row_items.h";
  static constexpr int kPiece = 16, kSize = 3, kTouched = 6;
  using Params = RowPlaces;

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    char* out;
    const char* in;
    const unsigned piece = params.find(i, out, in);
    const long first = static_cast<long>(piece) * kPiece - lead_of<1, kPiece, kPiece>(out), bytes = params.elements;
    auto whole = [&] {
      const unsigned element = static_cast<unsigned>(first) / kSize;
      const unsigned cut = 8 * (static_cast<unsigned>(first) - element * kSize);
      unsigned words[5], reversed[5] = {}, shifted[4];
      load_words<1, 2>(in - static_cast<long>(element + kTouched - 1) * kSize, words);
      for (int k = 0; k < kTouched * kSize; k++)
        add_part<1>(reversed, k, part_of<1>(words, (kTouched - 1 - k / kSize) * kSize + k % kSize));
      for (int k = 0; k < 4; k++) shifted[k] = word_between(reversed[k], reversed[k + 1], cut);
      store_words<kPiece>(out + first, shifted);
    };
    make_piece<kPiece>(first, bytes, whole, [&](long b) { out[b] = in[b % kSize * 2 - b]; });
  }
};

constexpr int kPixelPiece = 4;

struct ChannelPlaces {
  RowPlaces rows;
  long plane;  // bytes from a channel to the next where pixels are in planes
};

// Interleaved channels become planes. Elements have `size` bytes.
template <int size, int channels>
struct SplitChannels {
  static constexpr const char* header = "loops/moving/row_items.h";
  static constexpr int kAligned = size * kPixelPiece;
  using Params = ChannelPlaces;

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    char* out;
    const char* in;
    const unsigned piece = params.rows.find(i, out, in);
    const long first = static_cast<long>(piece) * kPixelPiece - lead_of<size, kAligned, kPixelPiece>(out);
    const long pixels = params.rows.elements;
    auto whole = [&] {
      unsigned words[size * channels];
      load_words<size>(in + first * size * channels, words);
      for (int c = 0; c < channels; c++) {
        unsigned plane[size] = {};
        for (int k = 0; k < kPixelPiece; k++) add_part<size>(plane, k, part_of<size>(words, k * channels + c));
        store_words<size>(out + c * params.plane + first * size, plane);
      }
    };
    make_piece<kPixelPiece>(first, pixels, whole, [&](long p) {
      for (int c = 0; c < channels; c++)
        for (int b = 0; b < size; b++) out[c * params.plane + p * size + b] = in[(p * channels + c) * size + b];
    });
  }
};

// The other way round.
template <int size, int channels>
struct JoinChannels {
  static constexpr const char* header = "loops/moving/row_items.h";
  static constexpr int kAligned = 4;
  using Params = ChannelPlaces;

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    char* out;
    const char* in;
    const unsigned piece = params.rows.find(i, out, in);
    const long first = static_cast<long>(piece) * kPixelPiece - lead_of<size * channels, kAligned, kPixelPiece>(out);
    const long pixels = params.rows.elements;
    auto whole = [&] {
      unsigned words[size * channels] = {};
      for (int c = 0; c < channels; c++) {
        unsigned plane[size];
        load_words<size>(in + c * params.plane + first * size, plane);
        for (int k = 0; k < kPixelPiece; k++) add_part<size>(words, k * channels + c, part_of<size>(plane, k));
      }
      store_words<size>(out + first * size * channels, words);
    };
    make_piece<kPixelPiece>(first, pixels, whole, [&](long p) {
      for (int c = 0; c < channels; c++)
        for (int b = 0; b < size; b++) out[(p * channels + c) * size + b] = in[c * params.plane + p * size + b];
    });
  }
};

// The same for three channels of a byte each, in pieces of 16 bytes as those of ReversedTriples.
struct JoinTriples {
  static constexpr const char* header = "loops/moving/row_items.h";
  static constexpr int kPiece = 16, kSize = 3, kTouched = 6;
  using Params = ChannelPlaces;

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    char* out;
    const char* in;
    const unsigned piece = params.rows.find(i, out, in);
    const long first = static_cast<long>(piece) * kPiece - lead_of<1, kPiece, kPiece>(out);
    const long bytes = params.rows.elements;
    auto whole = [&] {
      const unsigned pixel = static_cast<unsigned>(first) / kSize;
      const unsigned cut = 8 * (static_cast<unsigned>(first) - pixel * kSize);
      unsigned joined[5] = {}, shifted[4];
      for (int c = 0; c < kSize; c++) {
        unsigned plane[2];
        load_words<1, 2>(in + c * params.plane + pixel, plane);
        for (int k = 0; k < kTouched; k++) add_part<1>(joined, k * kSize + c, part_of<1>(plane, k));
      }
      for (int k = 0; k < 4; k++) shifted[k] = word_between(joined[k], joined[k + 1], cut);
      store_words<kPiece>(out + first, shifted);
    };
    make_piece<kPiece>(first, bytes, whole, [&](long b) { out[b] = in[b % kSize * params.plane + b / kSize]; });
  }
};

}  // namespace avida
