#include <algorithm>
#include <cmath>

#include "op/op.h"
#include "op/separable.h"

namespace avida::ops {
namespace {

struct GaussianBlurArgs {
  DType dtype = DType::none;
  std::vector<float> sigma = {0};
  std::vector<int> window_size = {0};
};

constexpr int64_t kLargestRadius = 1 << 20;
constexpr int64_t kLargestFixedRadius = 31;  // rounding of more terms could be seen

SymmetricWindow gaussian_window(float sigma, int64_t size) {
  if (!(sigma >= 0)) fail(ErrorKind::runtime, "expected a \"sigma\" that is not negative, got ", sigma);
  if (size < 0 || (size > 0 && size % 2 == 0))
    fail(ErrorKind::runtime, "expected an odd \"window_size\", or 0, got ", size);
  if (sigma == 0 && size == 0) fail(ErrorKind::runtime, "expected a \"sigma\" or a \"window_size\" other than 0");
  float reach = size > 0 ? static_cast<float>(size / 2) : std::ceil(3 * sigma);
  if (!(reach <= kLargestRadius))
    fail(ErrorKind::runtime, "expected a window that reaches at most ", kLargestRadius, " elements, got ", reach);
  int64_t radius = static_cast<int64_t>(reach);
  double spread = sigma > 0 ? sigma : (static_cast<double>(radius) - 1) * 0.3 + 0.8;

  std::vector<double> bell(radius + 1);
  double sum = 0;
  for (int64_t k = radius; k >= 0; k--) {
    double distance = static_cast<double>(k) / spread;
    bell[k] = k ? std::exp(-0.5 * distance * distance) : 1;
    sum += k ? 2 * bell[k] : 1;
  }
  SymmetricWindow window;
  window.half.clear();
  for (double height : bell) window.half.push_back(static_cast<float>(height / sum));
  return window;
}

Windows windows_of(const Sample<GaussianBlurArgs>& sample, const Space& space) {
  Windows windows;
  for (int i = 0; i < space.axes; i++)
    windows[space.first() + i] = gaussian_window(for_axis(sample.args.sigma, i, space.axes, "sigma"),
                                                 for_axis(sample.args.window_size, i, space.axes, "window_size"));
  return windows;
}

void blur(const Sample<GaussianBlurArgs>& sample) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  Space space = space_of(in.shape, in.layout);
  if (space.empty()) return;
  Windows windows = windows_of(sample, space);
  SeparableWork work = {space, in, out, {&windows, 1}, sample.begin, sample.end, 1, sample.launches};
  auto small = [](const SymmetricWindow& window) { return window.radius() <= kLargestFixedRadius; };
  if (in.dtype == DType::uint8 && out.dtype == DType::uint8 && std::ranges::all_of(windows, small))
    sum_separable<Fixed>(work);
  else
    sum_separable<float>(work);
}

}  // namespace

AVIDA_OP(gaussian_blur, GaussianBlurArgs) {
  using Args = GaussianBlurArgs;
  op.doc(
        "Blurs images, volumes or sequences with a Gaussian bell along each spatial axis. Beyond the border samples "
        "are reflected, without their outermost elements.")
      .input("input", "The samples to blur; channels (C) come first or last.")
      .arg("dtype", &Args::dtype, "The element type of the output: float32, or the input's.")
      .arg(
          "sigma", &Args::sigma,
          "The standard deviation of the bell, in elements: one number, or one for each spatial axis. Where it is 0 it "
          "follows from the window: 0.3 * (radius - 1) + 0.8.")
      .arg("window_size", &Args::window_size,
           "How many elements are summed: an odd number, or one for each spatial axis. Where it is 0 it follows from "
           "sigma: 2 * ceil(3 * sigma) + 1.")
      .per_frame()
      .example("avida.gaussian_blur(image, sigma=1.5)")
      .infer([](Infer<Args>& call) {
        spatial_axes(call.in[0].ndim, call.in[0].layout);
        if (call.in[0].dtype == DType::boolean) fail(ErrorKind::runtime, "expected numbers, got bool");
        call.out[0].dtype = filtered_dtype(call.args.dtype, call.in[0].dtype);
      })
      .each_sample(
          [](Sample<Args>& sample) {
            windows_of(sample, space_of(sample.in[0].shape, sample.in[0].layout));
            sample.out[0].shape = sample.in[0].shape;
          },
          blur)
      .rows([](const Sample<Args>& sample) { return space_of(sample.in[0].shape, sample.in[0].layout).rows(); })
      .on_gpu()
      .cost(6);
}

}  // namespace avida::ops
