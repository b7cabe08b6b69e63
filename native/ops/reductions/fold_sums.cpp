// Instantiates the folds that gather sums.
#include "loops/reducing/fold_loops.h"
#include "ops/reductions/fold.h"

namespace avida::reduction {

#define AVIDA_X(T, M, N) template Folding folding<ops::AddUp<T>, T>();
AVIDA_EACH_DTYPE(AVIDA_X)
#undef AVIDA_X
template Folding folding<ops::AddUpIn128Bits<int64_t>, int64_t>();
template Folding folding<ops::AddUpIn128Bits<uint64_t>, uint64_t>();

}  // namespace avida::reduction
