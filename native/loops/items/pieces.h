// The kernel of each_piece: sixteen bytes of elements at once. Bodies make any element, and where they can a piece:
//
//   // Makes the elements of a piece from `first` on, or returns false where that is not simple.
//   AVIDA_HD static bool run_piece(const Params& params, long first);
#pragma once
#include "device/macros.h"

namespace avida {

constexpr int kPieceBytes = 16;

template <class Body, int size>
struct InPieces {
  static constexpr const char* header = "loops/items/pieces.h";
  using Inner = Body;
  static constexpr int kElements = kPieceBytes / size, kBlocks = 5;
  struct Params {
    typename Body::Params each;
    long begin, end;  // of the elements
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const long first = params.begin + item * kElements, end = first + kElements;
    if (end <= params.end && Body::run_piece(params.each, first)) return;
    for (long i = first; i < end && i < params.end; i++) Body::run(params.each, i);
  }
};

}  // namespace avida
