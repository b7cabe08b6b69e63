// The kernel of each_piece: sixteen bytes of elements at once. Bodies make any element, and where they can a piece:
//
//   // Makes the elements of a piece from `first` on, or returns false where that is not simple.
//   AVIDA_HD static bool run_piece(const Params& params, long first);
//
// or, if they change a few elements of an input `in` with as many elements as the output `out`,
//
//   // Makes the output of the input's words, or returns false.
//   AVIDA_HD static bool edit_piece(const Params& params, long first, unsigned (&words)[kPieceBytes / 4]);
#pragma once
#include "device/launch.h"
#include "device/words.h"

namespace avida {

constexpr int kPieceBytes = 16;

template <class Body, int size>
struct InPieces {
  static constexpr const char* header = "loops/items/pieces.h";
  using Inner = Body;
  static constexpr int kElements = kPieceBytes / size, kBlocks = 4;
  struct Params {
    typename Body::Params each;
    long begin, end;  // of the elements
  };

  static constexpr bool edits = requires(const typename Body::Params& params, unsigned (&words)[kPieceBytes / 4]) {
    Body::edit_piece(params, 0l, words);
  };

  AVIDA_HD AVIDA_INLINE static long items_for(long elements) {
    const long pieces = (elements + kElements - 1) / kElements;
    return edits ? pairs_of(pieces) : pieces;
  }

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    if constexpr (edits) {
      auto first_of = [&](int k) { return params.begin + piece_of_pair(item, k) * kElements; };
      unsigned words[2][kPieceBytes / 4];
      AVIDA_UNROLL
      for (int k = 0; k < 2; k++)
        if (first_of(k) + kElements <= params.end) load_words(params.each.in + first_of(k), words[k]);
      AVIDA_DO_NOT_UNROLL
      for (int k = 0; k < 2; k++) {
        unsigned piece[kPieceBytes / 4];
        for (int w = 0; w < kPieceBytes / 4; w++) piece[w] = k == 0 ? words[0][w] : words[1][w];
        const long first = first_of(k);
        if (first + kElements <= params.end && Body::edit_piece(params.each, first, piece))
          store_words(params.each.out + first, piece);
        else
          run_each(params, first);
      }
    } else {
      const long first = params.begin + item * kElements;
      if (first + kElements > params.end || !Body::run_piece(params.each, first)) run_each(params, first);
    }
  }

 private:
  AVIDA_HD AVIDA_INLINE static void run_each(const Params& params, long first) {
    AVIDA_DO_NOT_UNROLL
    for (long i = first; i < first + kElements && i < params.end; i++) Body::run(params.each, i);
  }
};

}  // namespace avida
