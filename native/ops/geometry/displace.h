// What sphere, water and jitter share: the size stays, a mask says which samples change, nothing lies outside.
#pragma once
#include <cstring>

#include "op/warp.h"

namespace avida::ops {

struct DisplaceArgs {
  float fill_value = 0;
  int interp_type = 0, mask = 1;
};

// map(sample) is the map from the output to the input.
template <auto map, class Args>
Op<Args>& displaces(Op<Args>& op) {
  return op.input("input", "The images.", {"HWC"})
      .arg("fill_value", &Args::fill_value, "What to put where the input has nothing.", fixed | takes_nan)
      .arg("interp_type", &Args::interp_type, "Nearest or linear interpolation.", fixed)
      .arg("mask", &Args::mask, "0: the sample stays as it is.")
      .infer([](Infer<Args>& call) { is_linear(call.args.interp_type); })
      .each_sample(
          [](Sample<Args>& sample) { sample.out[0].shape = sample.in[0].shape; },
          [](const Sample<Args>& sample) {
            const SampleView &in = sample.in[0], &out = sample.out[0];
            if (sample.args.mask) {
              WarpOptions options{is_linear(sample.args.interp_type), Border::fill, {sample.args.fill_value}};
              WarpSample(in, out, options, sample.launches).run(map(sample), sample.begin, sample.end);
            } else if (sample.launches) {
              constexpr Affine<2> nothing{{{1, 0, 0}, {0, 1, 0}}};
              WarpSample(in, out, {false, Border::fill, {0}}, sample.launches).run(nothing, sample.begin, sample.end);
            } else if (in.elements() > 0) {
              int64_t row = in.bytes() / in.shape[0];
              std::memcpy(out.as<char>() + sample.begin * row, in.as<char>() + sample.begin * row,
                          (sample.end - sample.begin) * row);
            }
          })
      .rows([](const Sample<Args>& sample) { return WarpSample::rows(sample.out[0]); })
      .on_gpu()
      .cost(8);
}

}  // namespace avida::ops
