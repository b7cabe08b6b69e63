#include <algorithm>
#include <cmath>
#include <limits>

#include "op/op.h"
#include "op/separable.h"

namespace avida::ops {
namespace {

struct LaplacianArgs {
  DType dtype = DType::none;
  bool normalized_kernel = false;
  std::vector<float> scale = {1};
  std::optional<std::vector<int>> smoothing_size;
  std::vector<int> window_size = {3};
};

constexpr int kLargestWindow = 99;  // the weights of larger ones would not fit into a float

// The coefficients of (1 + x)^(size - 1), and for the second derivative of (1 - x)^2 (1 + x)^(size - 3).
SymmetricWindow binomial_window(int size, bool derivative) {
  std::vector<double> row = {1};
  auto multiply = [&](double sign) {
    row.push_back(0);
    for (size_t i = row.size() - 1; i > 0; i--) row[i] += sign * row[i - 1];
  };
  for (int i = 1; i < size; i++) multiply(derivative && i <= 2 ? -1 : 1);
  SymmetricWindow window;
  window.half.clear();
  for (int k = size / 2; k < size; k++) window.half.push_back(static_cast<float>(row[k]));
  return window;
}

// The windows of the second derivative along each spatial axis, which are to be multiplied by the scales.
struct Derivatives {
  std::vector<Windows> windows;
  std::vector<double> scales;
};

Derivatives derivatives_of(const Sample<LaplacianArgs>& sample, const Space& space) {
  const LaplacianArgs& args = sample.args;
  auto check = [](const char* name, int size, int least) {
    if (size < least || size > kLargestWindow || size % 2 == 0)
      fail(ErrorKind::runtime, "expected an odd number from ", least, " to ", kLargestWindow, " as ", name, ", got ",
           size);
  };
  Derivatives derivatives;
  derivatives.windows.resize(space.axes);
  for (int i = 0; i < space.axes; i++) {
    int size = for_axis(args.window_size, i, space.axes, "window_size"), sizes = size;
    double scale = for_axis(args.scale, i, space.axes, "scale");
    if (!std::isfinite(scale)) fail(ErrorKind::runtime, "expected finite numbers as scale, got ", scale);
    check("window_size", size, 3);
    for (int k = 0; k < space.axes; k++) {
      int smoothing = args.smoothing_size ? for_axis(*args.smoothing_size, k, space.axes, "smoothing_size") : size;
      check("smoothing_size", smoothing, 1);
      if (k == i) continue;
      sizes += smoothing;
      derivatives.windows[i][space.first() + k] = binomial_window(smoothing, false);
    }
    if (args.normalized_kernel) scale = std::ldexp(1.0, space.axes + 2 - sizes);
    derivatives.windows[i][space.first() + i] = binomial_window(size, true);
    derivatives.scales.push_back(scale);
  }
  return derivatives;
}

// The largest sum of bytes, of whichever sign, on the way or at the end.
double largest_sum(const std::vector<Windows>& terms) {
  double largest = 0;
  for (const Windows& windows : terms) {
    double product = 255;
    for (const SymmetricWindow& window : windows) {
      double sum = std::abs(window.half[0]);
      for (int64_t k = 1; k <= window.radius(); k++) sum += 2 * std::abs(window.half[k]);
      product *= sum;
    }
    largest += product;
  }
  return largest;
}

void laplace(const Sample<LaplacianArgs>& sample) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  Space space = space_of(in.shape, in.layout);
  if (space.empty()) return;
  auto [terms, scales] = derivatives_of(sample, space);
  SeparableWork work = {space,          in, out, terms, sample.begin, sample.end, static_cast<float>(scales[0]),
                        sample.launches};
  bool one_scale = std::ranges::all_of(scales, [&](double scale) { return scale == scales[0]; });
  if (in.dtype == DType::uint8 && one_scale && largest_sum(terms) <= std::numeric_limits<Whole>::max())
    return sum_separable<Whole>(work);
  for (int i = 0; i < space.axes; i++)
    for (float& weight : terms[i][space.first() + i].half) weight = static_cast<float>(weight * scales[i]);
  work.scale = 1;
  sum_separable<float>(work);
}

}  // namespace

AVIDA_OP(laplacian, LaplacianArgs) {
  using Args = LaplacianArgs;
  op.doc(
        "Sums the second derivatives along the spatial axes. Each is a convolution with a derivative window along its "
        "axis and with smoothing windows along the others. Beyond the border samples are reflected, without their "
        "outermost elements.")
      .input("input", "The samples; channels (C) come first or last.")
      .arg("dtype", &Args::dtype, "The element type of the output: float32, or the input's.")
      .arg("normalized_kernel", &Args::normalized_kernel,
           "Scale each derivative by 2 ** (axes + 2 - the sum of its window sizes), instead of by `scale`.", fixed)
      .arg("scale", &Args::scale, "What derivatives are multiplied by: one number, or one for each spatial axis.")
      .arg(
          "smoothing_size", &Args::smoothing_size,
          "The size of smoothing windows, odd: one number, or one for each spatial axis. 1 does not smooth. By default "
          "as `window_size`.")
      .arg("window_size", &Args::window_size,
           "The size of derivative windows, odd and at least 3: one number, or one for each spatial axis.")
      .per_frame()
      .example("avida.laplacian(image, window_size=5, normalized_kernel=True)")
      .infer([](Infer<Args>& call) {
        spatial_axes(call.in[0].ndim, call.in[0].layout);
        if (call.in[0].dtype == DType::boolean) fail(ErrorKind::runtime, "expected numbers, got bool");
        bool scales = call.call.per_sample("scale") || call.args.scale != std::vector<float>{1};
        if (call.args.normalized_kernel && scales)
          fail(ErrorKind::runtime, "expected \"scale\" or \"normalized_kernel\", got both");
        call.out[0].dtype = filtered_dtype(call.args.dtype, call.in[0].dtype);
      })
      .each_sample(
          [](Sample<Args>& sample) {
            derivatives_of(sample, space_of(sample.in[0].shape, sample.in[0].layout));
            sample.out[0].shape = sample.in[0].shape;
          },
          laplace)
      .rows([](const Sample<Args>& sample) { return space_of(sample.in[0].shape, sample.in[0].layout).rows(); })
      .on_gpu()
      .cost(8);
}

}  // namespace avida::ops
