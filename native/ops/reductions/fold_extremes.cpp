// Instantiates the folds that gather the least and the greatest elements.
#include "loops/reducing/fold_loops.h"
#include "ops/reductions/fold.h"

namespace avida::reduction {

#define AVIDA_X(T, M, N)                        \
  template Folding folding<ops::Least<T>, T>(); \
  template Folding folding<ops::Greatest<T>, T>();
AVIDA_EACH_DTYPE(AVIDA_X)
#undef AVIDA_X

}  // namespace avida::reduction
