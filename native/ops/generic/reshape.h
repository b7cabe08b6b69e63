// The arguments and the declaration that reshape and reinterpret share.
#pragma once
#include "operator/declare.h"

namespace avida::ops {

struct ReshapeArgs {
  DType dtype = DType::none;  // of the output; reshape keeps the input's
  std::optional<Layout> layout;
  std::optional<Vec<float>> rel_shape;
  std::optional<Vec<int64_t>> shape, src_dims;
};

// Declares what the two operators have in common; the arguments come in alphabetical order.
Op<ReshapeArgs>& declare_new_shape(Op<ReshapeArgs>& op);

}  // namespace avida::ops
