// Instantiates the folds that gather sums of squares and of squared distances.
#include "loops/reducing/fold_loops.h"
#include "ops/reductions/fold.h"

namespace avida::reduction {

#define AVIDA_X(T, M, N)                             \
  template Folding folding<ops::AddSquares<T>, T>(); \
  template Folding folding<ops::AddDistances<T>, T>();
AVIDA_EACH_DTYPE(AVIDA_X)
#undef AVIDA_X

}  // namespace avida::reduction
