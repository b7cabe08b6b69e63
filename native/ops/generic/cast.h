// Conversion of whole samples, shared by cast and cast_like.
#pragma once
#include "op/convert_run.h"
#include "op/launch_convert.h"
#include "op/op.h"

namespace avida::ops {

constexpr int64_t kCastRow = 8 << 10;  // elements that one thread converts at a time

template <class Args>
Op<Args>& converts_elements(Op<Args>& op) {
  return op
      .each_sample([](Sample<Args>& sample) { sample.out[0].shape = sample.in[0].shape; },
                   [](const Sample<Args>& sample) {
                     const SampleView &in = sample.in[0], &out = sample.out[0];
                     if (sample.launches)
                       return launch_convert(*sample.launches, out.data, out.dtype, in.data, in.dtype, out.elements());
                     int64_t begin = sample.begin * kCastRow, end = std::min(sample.end * kCastRow, out.elements());
                     rounding_run(out.dtype, in.dtype)(out.as<char>() + begin * size_of(out.dtype),
                                                       in.as<char>() + begin * size_of(in.dtype), end - begin);
                   })
      .rows([](const Sample<Args>& sample) { return (sample.out[0].elements() + kCastRow - 1) / kCastRow; })
      .on_gpu();
}

}  // namespace avida::ops
