// `augment.gamma`, `augment.invert`, `augment.posterize`, `augment.random_tone_curve`, `augment.solarize`.
#include "ops/augment/tones.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "loops/items/each_item.h"
#include "loops/pixels/byte_table.h"
#include "loops/pixels/each_pixel.h"
#include "operator/declare.h"
#include "ops/augment/colors.h"
#include "ops/generic/lookup_table.h"
#include "ops/random/distributions.h"

namespace avida::ops {
namespace {

struct GammaArgs {
  float gamma = 1;
};
struct SolarizeArgs {
  std::optional<float> threshold;
};
struct ToneCurveArgs {
  std::optional<float> high, low;
  float scale = 0.1f;
};
struct PosterizeArgs {
  float bits = 4;
};

Gamma::Params tone(const GammaArgs& args, DType dtype) {
  if (!(args.gamma >= 0)) refuse("expected a gamma of at least 0, got ", args.gamma);
  return {range_of_colors(dtype), args.gamma};
}
float tone(const NoArgs&, DType dtype) { return range_of_colors(dtype); }
Solarize::Params tone(const SolarizeArgs& args, DType dtype) {
  const float range = range_of_colors(dtype);
  return {range, args.threshold.value_or(is_float(dtype) ? 0.5f : (range + 1) / 2)};
}
Posterize::Params tone(const PosterizeArgs& args, DType dtype) {
  const int all = is_float(dtype) ? 16 : 8 * static_cast<int>(size_of(dtype));
  const int bits = static_cast<int>(std::round(args.bits));
  if (!(bits >= 0 && bits <= all)) refuse("expected from 0 to ", all, " bits, got ", args.bits);
  const float step = std::ldexp(is_float(dtype) ? 1.0f : range_of_colors(dtype) + 1, -bits);
  return {step, 1 / step, std::ldexp(1.0f, bits) - 1};
}

// Two numbers around a quarter and three quarters, if they are not given.
ToneCurve::Params tone_of(const Sample<ToneCurveArgs>& sample) {
  const ToneCurveArgs& args = sample.args;
  if (!(args.scale >= 0 && args.scale <= 1)) refuse("expected a scale from 0 to 1, got ", args.scale);
  for (const auto& given : {args.low, args.high})
    if (given && !(*given >= 0 && *given <= 1)) refuse("expected low and high from 0 to 1, got ", *given);
  float drawn[4];
  normals(random_block(sample.random, 0), drawn);
  auto number = [&](const std::optional<float>& given, float mean, float normal) {
    return given.value_or(std::clamp(mean + args.scale * normal, 0.0f, 1.0f));
  };
  return {range_of_colors(sample.in[0].dtype), number(args.low, 0.25f, drawn[0]), number(args.high, 0.75f, drawn[1])};
}
template <class Args>
auto tone_of(const Sample<Args>& sample) {
  return tone(sample.args, sample.in[0].dtype);
}

// Bytes are looked up in a table of what the body makes of each.
template <class Body, class Args>
class TonePlan {
  using Params = decltype(tone_of(std::declval<const Sample<Args>&>()));

 public:
  explicit TonePlan(const Sample<Args>& sample) : grid_(element_grid(sample.in[0])), by_(tone_of(sample)) {
    if (sample.in[0].dtype != DType::uint8) return;
    for (int i = 0; i < 256; i++)
      table_[i] = store_channel<uint8_t>(Body::run(Pixel<1>{{static_cast<float>(i)}}, by_)[0]);
  }

  int64_t rows() const { return grid_.blocks(); }
  void run(const Sample<Args>& sample) const {
    if (sample.in[0].dtype != DType::uint8) return each_pixel<Body>(sample, grid_, by_);
    using Item = LookUpBytes<uint8_t>;
    auto *to = sample.out[0].template as<uint8_t>(), *from = sample.in[0].template as<uint8_t>();
    const int64_t first = sample.begin * kPixelBlock, end = std::min(sample.end * kPixelBlock, grid_.outer);
    each_item<Item>(sample, 0, pieces_of(grid_.outer, Item::kPiece), {to, from, readable(sample, table_), grid_.outer},
                    [&] { look_up_bytes(to + first, from + first, end - first, table_.data()); });
  }

 private:
  const PixelGrid grid_;
  const Params by_;
  std::array<uint8_t, 256> table_;
};

template <class Body, class Args>
void tone_loop(Op<Args>& op) {
  op.input("input", "Images or videos of uint8, uint16 or floats, with any number of channels.",
           {"HW", "HWC", "CHW", "FHWC", "FCHW"})
      .infer([](Infer<Args>& call) { check_colors(call.in[0].dtype); })
      .template each_sample<TonePlan<Body, Args>>()
      .chains();
}

}  // namespace

AVIDA_OP_IN(augment, gamma, GammaArgs) {
  op.doc("Raises colours to a power. Between black (0) and white (1), x becomes x to the power of gamma.")
      .arg("gamma", &GammaArgs::gamma, "The exponent: above 1 shadows get darker, below 1 brighter.")
      .example("avida.augment.gamma(image, gamma=2.2)");
  tone_loop<Gamma>(op);
}

AVIDA_OP_IN(augment, invert, NoArgs) {
  op.doc("Makes dark what is bright, and the other way round.").example("avida.augment.invert(image)");
  tone_loop<Invert>(op);
}

AVIDA_OP_IN(augment, posterize, PosterizeArgs) {
  op.doc(
        "Keeps the highest bits of each colour. Floats from 0 to 1 are cut to as many steps as there are for these "
        "bits.")
      .arg("bits", &PosterizeArgs::bits, "How many bits, from 0 to those of the type; numbers are rounded.")
      .example("avida.augment.posterize(image, bits=2)");
  tone_loop<Posterize>(op);
}

AVIDA_OP_IN(augment, random_tone_curve, ToneCurveArgs) {
  using Args = ToneCurveArgs;
  op.doc("Bends tones along a random curve from black to white. Shadows and lights become brighter or darker.")
      .arg("high", &Args::high,
           "How high the curve is drawn at three quarters, from 0 to 1, instead of a random number: the second of the "
           "points between the ends of a cubic Bezier curve.")
      .arg("low", &Args::low, "The same at a quarter.")
      .arg("scale", &Args::scale, "The standard deviation of both numbers, around 0.75 and 0.25.")
      .random()
      .example("avida.augment.random_tone_curve(image, low=0.1, high=0.9)");
  tone_loop<ToneCurve>(op);
}

AVIDA_OP_IN(augment, solarize, SolarizeArgs) {
  op.doc("Inverts the colours that are not below a threshold.")
      .arg("threshold", &SolarizeArgs::threshold,
           "In units of the image; by default 0.5 for floats, and half of an integer type's range.")
      .example("avida.augment.solarize(image, threshold=128)");
  tone_loop<Solarize>(op);
}

}  // namespace avida::ops
