#include <algorithm>
#include <cmath>
#include <limits>

#include "loops/neighbours/separable.h"
#include "operator/declare.h"

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

struct Laplacian {
  const SampleView& in;
  const Space space;
  std::vector<Windows> terms;  // the second derivative along each spatial axis
  float scale = 1;
  bool whole;  // sums of bytes fit Whole numbers

  explicit Laplacian(const Sample<LaplacianArgs>& sample)
      : in(sample.in[0]), space(space_of(in.shape, in.layout)), terms(space.axes) {
    const LaplacianArgs& args = sample.args;
    auto check = [](const char* name, int size, int least) {
      if (size < least || size > kLargestWindow || size % 2 == 0)
        refuse("expected an odd number from ", least, " to ", kLargestWindow, " as ", name, ", got ", size);
    };
    std::vector<double> scales;
    for (int i = 0; i < space.axes; i++) {
      int size = for_axis(args.window_size, i, space.axes, "window_size"), sizes = size;
      double scale = for_axis(args.scale, i, space.axes, "scale");
      if (!std::isfinite(scale)) refuse("expected finite numbers as scale, got ", scale);
      check("window_size", size, 3);
      for (int k = 0; k < space.axes; k++) {
        int smoothing = args.smoothing_size ? for_axis(*args.smoothing_size, k, space.axes, "smoothing_size") : size;
        check("smoothing_size", smoothing, 1);
        if (k == i) continue;
        sizes += smoothing;
        terms[i][space.first() + k] = binomial_window(smoothing, false);
      }
      if (args.normalized_kernel) scale = std::ldexp(1.0, space.axes + 2 - sizes);
      terms[i][space.first() + i] = binomial_window(size, true);
      scales.push_back(scale);
    }
    const bool one_scale = std::ranges::all_of(scales, [&](double scale) { return scale == scales[0]; });
    whole = in.dtype == DType::uint8 && one_scale && largest_sum(terms) <= std::numeric_limits<Whole>::max();
    if (whole) {
      scale = static_cast<float>(scales[0]);
      return;
    }
    for (int i = 0; i < space.axes; i++)
      for (float& weight : terms[i][space.first() + i].half) weight = static_cast<float>(weight * scales[i]);
  }

  Shape shape() const { return in.shape; }
  int64_t rows() const { return space.rows(); }
  void run(const Sample<LaplacianArgs>& sample) const {
    if (whole)
      sum_separable<Whole>(sample, space, terms, scale);
    else
      sum_separable<float>(sample, space, terms);
  }
};

}  // namespace

AVIDA_OP(laplacian, LaplacianArgs) {
  using Args = LaplacianArgs;
  op.doc(
        "Computes the Laplacian: the sum of second derivatives along the spatial axes. Each is a convolution with "
        "a derivative window along its axis and with smoothing windows along the others. Beyond the border samples "
        "are reflected, without their outermost elements.")
      .input("input", "The samples; channels (C) come first or last.")
      .arg("dtype", &Args::dtype, "The element type of the output: float32, or the input's.")
      .arg("normalized_kernel", &Args::normalized_kernel,
           "Scale each derivative by 2 ** (axes + 2 - the sum of its window sizes), instead of by `scale`.", fixed)
      .arg("scale", &Args::scale, "The factors of the derivatives: one number, or one for each spatial axis.")
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
        check_numbers(call.in[0].dtype);
        bool scales = call.call.per_sample("scale") || call.args.scale != std::vector<float>{1};
        if (call.args.normalized_kernel && scales) refuse("expected \"scale\" or \"normalized_kernel\", got both");
        call.out[0].dtype = filtered_dtype(call.args.dtype, call.in[0].dtype);
      })
      .each_sample<Laplacian>()
      .cost(8);
}

}  // namespace avida::ops
