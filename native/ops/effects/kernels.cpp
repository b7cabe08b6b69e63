// `augment.advanced_blur`, `augment.emboss`, `augment.ringing_overshoot`.
#include <cmath>

#include "ops/augment/colors.h"
#include "ops/filter/filter.h"

namespace avida::ops {
namespace {

struct AdvancedArgs {
  float angle = 0, beta = 1, noise = 0, sigma_x = 1, sigma_y = 1;
  int size = 7;
};
struct EmbossArgs {
  float alpha = 0.5f, strength = 0.5f;
};
struct RingingArgs {
  float cutoff = 1;
  int size = 15;
};

void check_size(int size) {
  if (size < 1 || size % 2 == 0 || size > 255) refuse("expected an odd size from 1 to 255, got ", size);
}

// The numbers of a function of x and y around the middle.
template <class Weight>
std::vector<float> kernel(int size, bool normalized, Weight&& weight) {
  std::vector<double> made;
  double sum = 0;
  for (int y = -(size / 2); y <= size / 2; y++)
    for (int x = -(size / 2); x <= size / 2; x++) sum += made.emplace_back(weight(x, y));
  if (normalized && std::fabs(sum) < 1e-12) refuse("the weights of this kernel sum up to nothing");
  if (normalized)
    for (double& each : made) each /= sum;
  return {made.begin(), made.end()};
}

// A generalised Gaussian whose axes are turned, each of its weights times a random number.
std::vector<float> kernel_of(const Sample<AdvancedArgs>& sample) {
  const AdvancedArgs& args = sample.args;
  check_size(args.size);
  for (float sigma : {args.sigma_x, args.sigma_y})
    if (!(sigma > 1e-3f && sigma < 1e6f)) refuse("expected a sigma above 0.001, got ", sigma);
  if (!(args.beta > 0 && args.beta <= 100)) refuse("expected a beta above 0, up to 100, got ", args.beta);
  if (!(args.noise >= 0 && args.noise < 1)) refuse("expected noise from 0 to below 1, got ", args.noise);
  if (!std::isfinite(args.angle)) refuse("expected a finite angle, got ", args.angle);
  const double c = std::cos(args.angle * M_PI / 180), s = std::sin(args.angle * M_PI / 180);
  RandomStream random(sample.random);
  return kernel(args.size, true, [&](int x, int y) {
    const double u = (c * x + s * y) / args.sigma_x, v = (c * y - s * x) / args.sigma_y;
    const double factor = 1 + args.noise * (static_cast<double>(random.next()) * 0x1p-31 - 1);
    return std::exp(-0.5 * std::pow(u * u + v * v, args.beta)) * factor;
  });
}

std::vector<float> kernel_of(const Sample<EmbossArgs>& sample) {
  const auto& [alpha, strength] = sample.args;
  if (!(alpha >= 0 && alpha <= 1)) refuse("expected an alpha from 0 to 1, got ", alpha);
  if (!std::isfinite(strength)) refuse("expected a finite strength, got ", strength);
  return kernel(3, false, [&](int x, int y) {
    if (x == 0 && y == 0) return 1.0f;
    return alpha *
           (x == -y ? 0.0f : static_cast<float>(x == y ? x : 0) + strength * static_cast<float>(x + y > 0 ? 1 : -1));
  });
}

// The inverse transform of a disk of frequencies, cut off where the kernel ends.
std::vector<float> kernel_of(const Sample<RingingArgs>& sample) {
  const double cutoff = sample.args.cutoff;
  check_size(sample.args.size);
  if (!(cutoff > 0 && cutoff <= M_PI)) refuse("expected a cutoff above 0, up to pi, got ", cutoff);
  return kernel(sample.args.size, true, [&](int x, int y) {
    const double r = std::hypot(x, y);
    return r == 0 ? cutoff * cutoff / (4 * M_PI) : cutoff * std::cyl_bessel_j(1.0, cutoff * r) / (2 * M_PI * r);
  });
}

int size_of_kernel(const EmbossArgs&) { return 3; }
int size_of_kernel(const auto& args) { return args.size; }

template <class Args>
struct KernelPlan : KernelFilter {
  explicit KernelPlan(const Sample<Args>& sample)
      : KernelFilter(sample, kernel_of(sample), size_of_kernel(sample.args), Border::reflect_101) {}
};

template <class Args>
void filters(Op<Args>& op) {
  op.input("input", "Images or videos, with any number of channels.", {"HW", "HWC", "CHW", "FHWC", "FCHW"})
      .infer([](Infer<Args>& call) { check_numbers(call.in[0].dtype); })
      .template each_sample<KernelPlan<Args>>()
      .cost(8);
}

}  // namespace

AVIDA_OP_IN(augment, advanced_blur, AdvancedArgs) {
  using Args = AdvancedArgs;
  op.doc("Blurs images by a Gaussian, which may be long in one direction, flat and noisy.")
      .arg("angle", &Args::angle, "By how many degrees the axes of the Gaussian are turned clockwise.")
      .arg("beta", &Args::beta, "The exponent: 1 is a Gaussian, above 1 it becomes a box, below 1 a peak.")
      .arg("noise", &Args::noise, "Each weight is multiplied by a random number from 1 - noise to 1 + noise.")
      .arg("sigma_x", &Args::sigma_x, "The standard deviation along the first axis, in pixels.")
      .arg("sigma_y", &Args::sigma_y, "The same along the second axis.")
      .arg("size", &Args::size, "The odd size of the window.")
      .random()
      .example("avida.augment.advanced_blur(image, sigma_x=3, sigma_y=0.5, angle=30)");
  filters(op);
}

AVIDA_OP_IN(augment, emboss, EmbossArgs) {
  op.doc("Makes edges look as if they were raised, lit from the upper left.")
      .arg("alpha", &EmbossArgs::alpha, "How much of it, from 0 (the image) to 1.")
      .arg("strength", &EmbossArgs::strength, "How strong edges are.")
      .example("avida.augment.emboss(image, alpha=0.9)");
  filters(op);
}

AVIDA_OP_IN(augment, ringing_overshoot, RingingArgs) {
  op.doc("Makes edges ring: an ideal low pass, which is cut off where its window ends.")
      .arg("cutoff", &RingingArgs::cutoff, "The highest frequency that is left, in radians for a pixel, up to pi.")
      .arg("size", &RingingArgs::size, "The odd size of the window.")
      .example("avida.augment.ringing_overshoot(image)");
  filters(op);
}

}  // namespace avida::ops
