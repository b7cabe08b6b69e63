// Conversion of whole samples, shared by cast and cast_like.
#pragma once
#include "op/convert_run.h"
#include "op/op.h"

namespace avida::ops {

constexpr int64_t kCastRow = 8 << 10;  // elements that one thread converts at a time

template <class Args>
Op<Args>& converts_elements(Op<Args>& op) {
  return op
      .each_sample([](Sample<Args>& sample) { sample.out[0].shape = sample.in[0].shape; },
                   [](const Sample<Args>& sample) {
                     const SampleView &in = sample.in[0], &out = sample.out[0];
                     int64_t begin = sample.begin * kCastRow, end = std::min(sample.end * kCastRow, out.elements());
                     rounding_run(out.dtype, in.dtype)(out.as<char>() + begin * size_of(out.dtype),
                                                       in.as<char>() + begin * size_of(in.dtype), end - begin);
                   })
      .rows([](const Sample<Args>& sample) { return (sample.out[0].elements() + kCastRow - 1) / kCastRow; });
}

}  // namespace avida::ops
