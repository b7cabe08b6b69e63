#include <algorithm>
#include <cmath>
#include <optional>

#include "loops/neighbours/separable.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct GaussianBlurArgs {
  DType dtype = DType::none;
  std::optional<std::vector<float>> sigma;
  std::vector<int> window_size = {0};
};

constexpr int64_t kLargestRadius = 1 << 20;
constexpr int64_t kLargestFixedRadius = 31;  // rounding of more terms could be seen

SymmetricWindow gaussian_window(float sigma, int64_t size) {
  if (!(sigma >= 0)) refuse("expected a \"sigma\" that is not negative, got ", sigma);
  if (size < 0 || (size > 0 && size % 2 == 0)) refuse("expected an odd \"window_size\", or 0, got ", size);
  if (sigma == 0 && size == 0) return {};  // nothing is blurred
  float reach = size > 0 ? static_cast<float>(size / 2) : std::ceil(3 * sigma);
  if (!(reach <= kLargestRadius))
    refuse("expected a window that reaches at most ", kLargestRadius, " elements, got ", reach);
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

struct GaussianBlur {
  const SampleView& in;
  const Space space;
  Windows windows;

  explicit GaussianBlur(const Sample<GaussianBlurArgs>& sample)
      : in(sample.in[0]), space(space_of(in.shape, in.layout)) {
    const auto& [dtype, sigma, sizes] = sample.args;
    for (int i = 0; i < space.axes; i++) {
      const int64_t size = for_axis(sizes, i, space.axes, "window_size");
      if (!sigma && size == 0) refuse("expected a \"sigma\", or a \"window_size\" other than 0");
      const float spread = sigma ? for_axis(*sigma, i, space.axes, "sigma") : 0;
      // With a number for each axis in both, they complement each other.
      if (sigma && spread == 0 && size != 0 && (sigma->size() == 1 || sizes.size() == 1))
        refuse("expected a \"sigma\" of more than 0 beside a \"window_size\", got 0. To blur nothing, leave out ",
               "\"window_size\"; for a sigma that follows from \"window_size\", leave out \"sigma\".");
      windows[space.first() + i] = gaussian_window(spread, size);
    }
  }

  Shape shape() const { return in.shape; }
  int64_t rows() const { return space.rows(); }
  void run(const Sample<GaussianBlurArgs>& sample) const {
    auto small = [](const SymmetricWindow& window) { return window.radius() <= kLargestFixedRadius; };
    if (in.dtype == DType::uint8 && sample.out[0].dtype == DType::uint8 && std::ranges::all_of(windows, small))
      sum_separable<Fixed>(sample, space, {&windows, 1});
    else
      sum_separable<float>(sample, space, {&windows, 1});
  }
};

}  // namespace

AVIDA_OP(gaussian_blur, GaussianBlurArgs) {
  using Args = GaussianBlurArgs;
  op.doc(
        "Blurs images, volumes or sequences with a Gaussian along each spatial axis. Beyond the border samples are "
        "reflected, without their outermost elements.")
      .input("input", "The samples to blur; channels (C) come first or last.")
      .arg("dtype", &Args::dtype, "The element type of the output: float32, or the input's.")
      .arg("sigma", &Args::sigma,
           "The standard deviation of the Gaussian, in elements: one number, or one for each spatial axis. By default "
           "it "
           "follows from `window_size`: 0.3 * (radius - 1) + 0.8; so it does along an axis where it is 0, if both have "
           "a "
           "number for each axis. Where it is 0 otherwise, nothing is blurred, and no `window_size` is taken.")
      .arg("window_size", &Args::window_size,
           "The size of the window: an odd number of elements, or one for each spatial axis. Where it is 0 it follows "
           "from "
           "sigma: 2 * ceil(3 * sigma) + 1.")
      .per_frame()
      .example("avida.gaussian_blur(image, sigma=1.5)")
      .infer([](Infer<Args>& call) {
        spatial_axes(call.in[0].ndim, call.in[0].layout);
        check_numbers(call.in[0].dtype);
        call.out[0].dtype = filtered_dtype(call.args.dtype, call.in[0].dtype);
      })
      .each_sample<GaussianBlur>()
      .cost(6);
}

}  // namespace avida::ops
