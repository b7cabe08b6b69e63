// `augment.box_blur`, `augment.defocus`, `augment.motion_blur`, `augment.unsharp_mask`.
#include <cmath>
#include <optional>

#include "loops/neighbours/box_rows.h"
#include "loops/neighbours/separable.h"
#include "operator/declare.h"
#include "ops/filter/filter.h"

namespace avida::ops {
namespace {

struct MotionArgs {
  float angle = 0, direction = 0;
  int size = 7;
};
struct DefocusArgs {
  float radius = 3;
};
struct BoxArgs {
  std::vector<int> size = {5};
};
struct UnsharpArgs {
  float amount = 1, sigma = 1;
};

constexpr int kLargestKernel = 255;

struct Kernel {
  int64_t size;
  std::vector<float> weights = std::vector<float>(static_cast<size_t>(size * size));

  void add(double x, double y, double weight) {
    const auto column = static_cast<int64_t>(std::floor(x)), row = static_cast<int64_t>(std::floor(y));
    for (int64_t k = 0; k < 4; k++) {
      const int64_t c = column + k % 2, r = row + k / 2;
      const double share = (1 - std::fabs(x - static_cast<double>(c))) * (1 - std::fabs(y - static_cast<double>(r)));
      if (share > 0 && c >= 0 && c < size && r >= 0 && r < size)
        weights[r * size + c] += static_cast<float>(share * weight);
    }
  }
  // Weights of which the sum is one.
  std::vector<float> normalized() const {
    double sum = 0;
    for (float weight : weights) sum += weight;
    std::vector<float> made = weights;
    for (float& weight : made) weight = static_cast<float>(weight / sum);
    return made;
  }
};

// A line through the middle, of points an eighth of a pixel apart.
Kernel kernel_of(const MotionArgs& args) {
  if (args.size < 1 || args.size % 2 == 0 || args.size > kLargestKernel)
    refuse("expected an odd size from 1 to ", kLargestKernel, ", got ", args.size);
  if (!(args.direction >= -1 && args.direction <= 1)) refuse("expected a direction from -1 to 1, got ", args.direction);
  Kernel kernel{args.size};
  const int radius = args.size / 2, points = 8 * radius;
  const double right = std::cos(args.angle * M_PI / 180), up = std::sin(args.angle * M_PI / 180);
  for (int i = -points; i <= points; i++) {
    const double share = points ? static_cast<double>(i) / points : 0;
    kernel.add(radius + share * radius * right, radius - share * radius * up, 1 + args.direction * share);
  }
  return kernel;
}

// A disk, at whose edge weights fall from one to zero within a pixel.
Kernel kernel_of(const DefocusArgs& args) {
  if (!(args.radius >= 0 && args.radius <= kLargestKernel / 2))
    refuse("expected a radius from 0 to ", kLargestKernel / 2, ", got ", args.radius);
  const auto reach = static_cast<int64_t>(std::ceil(args.radius));
  Kernel kernel{2 * reach + 1};
  for (int64_t y = -reach; y <= reach; y++)
    for (int64_t x = -reach; x <= reach; x++) {
      const double distance = std::hypot(static_cast<double>(x), static_cast<double>(y));
      kernel.weights[(y + reach) * kernel.size + x + reach] =
          static_cast<float>(std::clamp(args.radius + 0.5 - distance, 0.0, 1.0));
    }
  return kernel;
}

template <class Args>
struct KernelPlan : KernelFilter {
  explicit KernelPlan(const Sample<Args>& sample) : KernelPlan(sample, kernel_of(sample.args)) {}
  KernelPlan(const Sample<Args>& sample, const Kernel& kernel)
      : KernelFilter(sample, kernel.normalized(), kernel.size, Border::reflect_101) {}
};

SymmetricWindow window_of(const std::vector<double>& half) {
  double sum = -half[0];
  for (double weight : half) sum += 2 * weight;
  SymmetricWindow window;
  window.half.clear();
  for (double weight : half) window.half.push_back(static_cast<float>(weight / sum));
  return window;
}

// Windows of bytes of up to kMostBoxElements are means of exact sums: the same integers as a filter of equal weights,
// which other devices and larger windows compute.
struct BoxPlan {
  const SampleView& in;
  const Space space;
  Windows windows;
  bool fits_bytes = true;  // sums in 16 bits round what has many terms
  BoxMean mean{};
  std::optional<KernelFilter> filter;

  explicit BoxPlan(const Sample<BoxArgs>& sample) : in(sample.in[0]), space(space_of(in.shape, in.layout)) {
    int64_t size[] = {1, 1, 1};
    for (int i = 0; i < space.axes; i++) {
      const int given = for_axis(sample.args.size, i, space.axes, "size");
      if (given < 1 || given % 2 == 0) refuse("expected odd sizes, got ", given);
      size[space.first() + i] = given;
      windows[space.first() + i] = window_of(std::vector<double>(given / 2 + 1, 1.0));
      fits_bytes &= given <= 31;
    }
    if (in.dtype != DType::uint8 || space.axes != 2 || !fits_bytes || size[1] * size[2] > kMostBoxElements) return;
    const int64_t elements = size[1] * size[2];
    mean = {size[1] / 2, size[2] / 2, 0, 20};
    while (std::ldexp(1.0, mean.bits) / static_cast<double>(elements) > 32767) mean.bits--;
    const std::vector<float> kernel(static_cast<size_t>(elements), 1 / static_cast<float>(elements));
    mean.weight = static_cast<int>(std::round(std::ldexp(static_cast<double>(kernel[0]), mean.bits)));
    filter.emplace(sample, kernel, size[1], Border::reflect_101);
  }
  int64_t rows() const { return space.rows(); }
  void run(const Sample<BoxArgs>& sample) const {
    if (filter && sample.launches)
      filter->run(sample);
    else if (filter)
      box_means(sample.out[0].as<uint8_t>(), in.as<uint8_t>(), space, mean, sample.begin, sample.end);
    else if (in.dtype == DType::uint8 && fits_bytes)
      sum_separable<Fixed>(sample, space, {&windows, 1});
    else
      sum_separable<float>(sample, space, {&windows, 1});
  }
};

// (1 + amount) times the image minus amount times the blurred one: two separable terms.
struct UnsharpPlan {
  const Space space;
  Windows terms[2];

  explicit UnsharpPlan(const Sample<UnsharpArgs>& sample) : space(space_of(sample.in[0].shape, sample.in[0].layout)) {
    const auto& [amount, sigma] = sample.args;
    if (!(sigma > 0 && sigma <= 1000)) refuse("expected a sigma above 0 and of at most 1000, got ", sigma);
    std::vector<double> half;
    for (int k = 0; k <= std::ceil(3 * sigma); k++) half.push_back(std::exp(-0.5 * k * k / (sigma * sigma)));
    for (int d = space.first(); d < 3; d++) terms[1][d] = window_of(half);
    terms[0][2].half = {1 + amount, 0};  // windows of one element are skipped
    for (float& weight : terms[1][2].half) weight *= -amount;
  }
  int64_t rows() const { return space.rows(); }
  void run(const Sample<UnsharpArgs>& sample) const { sum_separable<float>(sample, space, terms); }
};

template <class Plan, class Args>
void blurs(Op<Args>& op) {
  op.input("input", "Images or videos, with any number of channels.", {"HW", "HWC", "CHW", "FHWC", "FCHW"})
      .infer([](Infer<Args>& call) { check_numbers(call.in[0].dtype); })
      .template each_sample<Plan>()
      .cost(8);
}

}  // namespace

AVIDA_OP_IN(augment, box_blur, BoxArgs) {
  op.doc("Replaces each pixel by the mean of those around it. Beyond the border images are reflected.")
      .arg("size", &BoxArgs::size, "The odd size of the window, or its height and width.")
      .example("avida.augment.box_blur(image, size=3)");
  blurs<BoxPlan>(op);
}

AVIDA_OP_IN(augment, defocus, DefocusArgs) {
  op.doc("Blurs images as a lens does that is out of focus: each point becomes a disk.")
      .arg("radius", &DefocusArgs::radius, "The radius of the disk in pixels, of which half a pixel more is its edge.")
      .example("avida.augment.defocus(image, radius=1.5)");
  blurs<KernelPlan<DefocusArgs>>(op);
}

AVIDA_OP_IN(augment, motion_blur, MotionArgs) {
  op.doc("Blurs images along a line, as if the camera had moved.")
      .arg("angle", &MotionArgs::angle,
           "The direction of the line in degrees: 0 is horizontal, 45 leads up to the right.")
      .arg("direction", &MotionArgs::direction,
           "Where the line is strongest: from -1, at its beginning, to 1, at its end; 0 is even.")
      .arg("size", &MotionArgs::size, "The length of the line in pixels, an odd number.")
      .example("avida.augment.motion_blur(image, size=3, angle=30)");
  blurs<KernelPlan<MotionArgs>>(op);
}

AVIDA_OP_IN(augment, unsharp_mask, UnsharpArgs) {
  op.doc("Sharpens images: adds what distinguishes them from their blurred copies.")
      .arg("amount", &UnsharpArgs::amount, "The factor of the difference.")
      .arg("sigma", &UnsharpArgs::sigma, "The standard deviation of the Gaussian that blurs, in pixels.")
      .example("avida.augment.unsharp_mask(image, amount=0.5)");
  blurs<UnsharpPlan>(op);
}

}  // namespace avida::ops
