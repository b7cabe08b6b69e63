// What the warps of avida.augment share: their arguments, and a plan from a map of the output to the input.
#pragma once
#include "loops/neighbours/space.h"
#include "loops/warping/warp.h"

namespace avida::ops {

struct WarpedArgs {
  Border border = Border::fill;
  std::vector<float> fill_value = {0};
  Interpolation interp_type = Interpolation::linear;
};

inline WarpOptions warped_options(const WarpedArgs& args) { return {args.interp_type, args.border, args.fill_value}; }

inline int64_t extent_of(const SampleView& sample, char axis) {
  const int d = sample.layout.find(axis);
  return d < 0 ? 1 : sample.shape[d];
}

// Parameters has map(sample), the map from the output to the input, and perhaps shape(), of the output.
template <class Parameters, class Args>
class WarpedPlan {
 public:
  explicit WarpedPlan(const Sample<Args>& sample) : in_(sample.in[0]), parameters_(sample) {}

  Shape shape() const {
    if constexpr (requires { parameters_.shape(); })
      return parameters_.shape();
    else
      return in_.shape;
  }
  int64_t rows(const Sample<Args>& sample) const { return WarpSample::rows(sample.out[0]); }
  void run(const Sample<Args>& sample) const {
    WarpSample(sample, warped_options(sample.args)).run(parameters_.map(sample));
  }

 private:
  const SampleView& in_;
  const Parameters parameters_;
};

template <class Parameters, class Args>
Op<Args>& warps(Op<Args>& op) {
  return op
      .input("input", "The images, or label maps with nearest interpolation.", {"HW", "HWC", "CHW", "FHWC", "FCHW"})
      .arg("border", &Args::border,
           "What lies beyond the border: \"constant\" (fill_value), \"reflect_101\", \"reflect_1001\", \"wrap\" or "
           "\"clamp\".")
      .arg("fill_value", &Args::fill_value, "One number, or one for each channel.", fixed | takes_nan)
      .arg("interp_type", &Args::interp_type, "Nearest or linear interpolation.", fixed)
      .template each_sample<WarpedPlan<Parameters, Args>>()
      .cost(8);
}

}  // namespace avida::ops
