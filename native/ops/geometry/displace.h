// What sphere, water and jitter share: the size stays, a mask selects the samples that change, fill_value is outside.
#pragma once
#include "loops/moving/strided_move.h"
#include "loops/warping/warp.h"

namespace avida::ops {

struct DisplaceArgs {
  float fill_value = 0;
  Interpolation interp_type = Interpolation::nearest;
  int mask = 1;
};

// map_of(sample) is the map from the output to the input.
template <auto map_of, class Args>
struct Displacement {
  const Shape in;
  const WarpOptions options;
  const decltype(map_of(std::declval<const Sample<Args>&>())) map;
  const StridedMove copy;
  const bool moves;

  explicit Displacement(const Sample<Args>& sample)
      : in(sample.in[0].shape),
        options{sample.args.interp_type, Border::fill, {sample.args.fill_value}},
        map(map_of(sample)),
        copy(size_of(sample.in[0].dtype), in, dense_strides(in)),
        moves(sample.args.mask) {}

  Shape shape() const { return in; }
  int64_t rows(const Sample<Args>& sample) const { return moves ? WarpSample::rows(sample.out[0]) : copy.rows(); }
  void run(const Sample<Args>& sample) const {
    if (moves)
      WarpSample(sample, options).run(map);
    else
      copy.run(sample, sample.out[0].data, sample.in[0].data);
  }
};

template <auto map_of, class Args>
Op<Args>& displaces(Op<Args>& op) {
  return op.input("input", "The images.", {"HWC", "FHWC", "CHW", "FCHW"})
      .arg("fill_value", &Args::fill_value, "What to put where the input has nothing.", fixed | takes_nan)
      .arg("interp_type", &Args::interp_type, "Nearest or linear interpolation.", fixed)
      .arg("mask", &Args::mask, "0: the sample stays as it is.")
      .template each_sample<Displacement<map_of, Args>>()
      .cost(8);
}

}  // namespace avida::ops
