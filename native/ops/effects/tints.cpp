// `augment.hue_saturation_value`, `augment.pca_lighting`, `augment.planckian_jitter`, `augment.snow`,
// `augment.to_sepia`.
#include "ops/effects/tints.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/augment/rgb_matrix.h"
#include "ops/random/distributions.h"

#pragma GCC diagnostic ignored "-Wpsabi"  // as in pixel_vectors.h: its loops are made at the end of this file

namespace avida::ops {

enum class Light { blackbody, daylight };
AVIDA_CHOICES(Light, "blackbody", "daylight")

namespace {

struct HsvArgs {
  float hue = 0, saturation = 0, value = 0;
};
struct LightingArgs {
  Vec<float> alpha;
  float std = 0.1f;
};
struct PlanckianArgs {
  Light mode = Light::blackbody;
  std::optional<float> temperature;
};
struct SnowArgs {
  float brightness = 2.5f, snow_point = 0.2f;
};
struct SepiaArgs {
  float amount = 1;
};

// Red and blue of a light in relation to green, every 500 kelvin, as published with the paper (Zini et al., 2023).
struct Lights {
  int first;  // in 500 kelvin
  std::vector<std::array<float, 3>> rgb;
};
const Lights kBlackbody{
    6, {{.6743f, .4029f, .0013f}, {.6281f, .4241f, .1665f}, {.5919f, .4372f, .2513f}, {.5623f, .4457f, .3154f},
        {.5376f, .4515f, .3672f}, {.5163f, .4555f, .4103f}, {.4979f, .4584f, .4468f}, {.4816f, .4604f, .4782f},
        {.4672f, .4619f, .5053f}, {.4542f, .4630f, .5289f}, {.4426f, .4638f, .5497f}, {.4320f, .4644f, .5681f},
        {.4223f, .4648f, .5844f}, {.4135f, .4651f, .5990f}, {.4054f, .4653f, .6121f}, {.3980f, .4654f, .6239f},
        {.3911f, .4655f, .6346f}, {.3847f, .4656f, .6444f}, {.3787f, .4656f, .6532f}, {.3732f, .4656f, .6613f},
        {.3680f, .4655f, .6688f}, {.3632f, .4655f, .6756f}, {.3586f, .4655f, .6820f}, {.3544f, .4654f, .6878f},
        {.3503f, .4653f, .6933f}}};
const Lights kDaylight{
    8, {{.5829f, .4421f, .2288f}, {.5510f, .4514f, .2948f}, {.5246f, .4576f, .3488f}, {.5021f, .4618f, .3941f},
        {.4826f, .4646f, .4325f}, {.4654f, .4667f, .4654f}, {.4502f, .4681f, .4938f}, {.4364f, .4692f, .5186f},
        {.4240f, .4700f, .5403f}, {.4127f, .4705f, .5594f}, {.4023f, .4709f, .5763f}, {.3928f, .4713f, .5914f},
        {.3839f, .4715f, .6049f}, {.3757f, .4716f, .6171f}, {.3681f, .4717f, .6281f}, {.3609f, .4718f, .6380f},
        {.3543f, .4719f, .6472f}, {.3480f, .4719f, .6555f}, {.3421f, .4719f, .6631f}, {.3365f, .4719f, .6702f},
        {.3313f, .4719f, .6766f}, {.3263f, .4719f, .6826f}, {.3217f, .4719f, .6882f}}};

RgbMatrix matrix_of(const Sample<PlanckianArgs>& sample) {
  const Lights& lights = sample.args.mode == Light::blackbody ? kBlackbody : kDaylight;
  const int last = lights.first + static_cast<int>(lights.rgb.size()) - 1;
  const float least = 500.0f * static_cast<float>(lights.first), most = 500.0f * static_cast<float>(last);
  const float drawn = least + (most - least) * unit(RandomStream(sample.random).next());
  const float kelvin = sample.args.temperature.value_or(drawn);
  if (!(kelvin >= least && kelvin <= most))
    refuse("expected a temperature from ", least, " to ", most, " kelvin, got ", kelvin);
  const float place = kelvin / 500 - static_cast<float>(lights.first);
  const int before = std::min(static_cast<int>(place), last - lights.first - 1);
  const float share = place - static_cast<float>(before);
  float rgb[3];
  for (int c = 0; c < 3; c++) rgb[c] = lights.rgb[before][c] * (1 - share) + lights.rgb[before + 1][c] * share;
  RgbMatrix matrix = kSameColors;
  matrix.factor[0][0] = rgb[0] / rgb[1];
  matrix.factor[2][2] = rgb[2] / rgb[1];
  return matrix;
}

// The principal components of the colours of ImageNet, with the roots of their variances (Krizhevsky et al., 2012).
RgbMatrix matrix_of(const Sample<LightingArgs>& sample) {
  constexpr float vectors[3][3] = {{-.5675f, .7192f, .4009f}, {-.5808f, -.0045f, -.8140f}, {-.5836f, -.6948f, .4203f}};
  constexpr float values[3] = {.2175f, .0188f, .0045f};
  const LightingArgs& args = sample.args;
  if (!args.alpha.empty() && args.alpha.size() != 3) refuse("expected 3 numbers as alpha, got ", args.alpha.size());
  if (!(args.std >= 0)) refuse("expected a std of at least 0, got ", args.std);
  float drawn[4];
  normals(random_block(sample.random, 0), drawn);
  RgbMatrix matrix = kSameColors;
  for (int c = 0; c < 3; c++) {
    float sum = 0;
    for (int k = 0; k < 3; k++)
      sum += vectors[c][k] * values[k] * (args.alpha.empty() ? drawn[k] * args.std : args.alpha[k]);
    matrix.addend[c] = sum * range_of_colors(sample.in[0].dtype);
  }
  return matrix;
}

RgbMatrix matrix_of(const Sample<SepiaArgs>& sample) {
  constexpr float sepia[3][3] = {{.393f, .769f, .189f}, {.349f, .686f, .168f}, {.272f, .534f, .131f}};
  const float amount = sample.args.amount;
  if (!(amount >= 0 && amount <= 1)) refuse("expected an amount from 0 to 1, got ", amount);
  RgbMatrix matrix = kSameColors;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) matrix.factor[i][k] = sepia[i][k] * amount + matrix.factor[i][k] * (1 - amount);
  return matrix;
}

ShiftHsv::Params tint_of(const Sample<HsvArgs>& sample) {
  const auto& [hue, saturation, value] = sample.args;
  if (!(hue >= -180 && hue <= 180)) refuse("expected a hue from -180 to 180 degrees, got ", hue);
  for (float each : {saturation, value})
    if (!(each >= -1 && each <= 1)) refuse("expected a saturation and a value from -1 to 1, got ", each);
  return {range_of_colors(sample.in[0].dtype), hue / 60, saturation, value};
}
Snow::Params tint_of(const Sample<SnowArgs>& sample) {
  const auto& [brightness, snow_point] = sample.args;
  if (!(brightness >= 0 && std::isfinite(brightness))) refuse("expected a brightness of at least 0, got ", brightness);
  if (!(snow_point >= 0 && snow_point <= 1)) refuse("expected a snow_point from 0 to 1, got ", snow_point);
  const float range = range_of_colors(sample.in[0].dtype);
  return {range, range * (snow_point / 2 + 1.0f / 3), brightness};
}

template <class Body, class Args>
class TintPlan {
 public:
  explicit TintPlan(const Sample<Args>& sample) : grid_(pixel_grid(sample.in[0])), by_(tint_of(sample)) {
    if (grid_.channels != 3) refuse("expected the 3 channels of RGB, got ", grid_.channels);
  }

  int64_t rows() const { return grid_.blocks(); }
  void run(const Sample<Args>& sample) const { each_pixel<Body>(sample, grid_, by_); }

 private:
  const PixelGrid grid_;
  const typename Body::Params by_;
};

}  // namespace

AVIDA_OP_IN(augment, hue_saturation_value, HsvArgs) {
  op.doc("Adds numbers to hue, saturation and value of the space HSV. Grays stay gray.")
      .arg("hue", &HsvArgs::hue, "By how many degrees the hue turns, from -180 to 180.")
      .arg("saturation", &HsvArgs::saturation, "What is added to the saturation, which is from 0 to 1.")
      .arg("value", &HsvArgs::value, "The same for the value: the largest of the three colours.")
      .example("avida.augment.hue_saturation_value(image, hue=60, saturation=0.2)");
  recolors<TintPlan<ShiftHsv, HsvArgs>>(op);
}

AVIDA_OP_IN(augment, pca_lighting, LightingArgs) {
  op.doc("Adds random colours as they vary in ImageNet: the lighting of AlexNet.")
      .arg("alpha", &LightingArgs::alpha, "Three factors of the principal components, instead of random ones.")
      .arg("std", &LightingArgs::std, "The standard deviation of the factors.")
      .random()
      .example("avida.augment.pca_lighting(image, alpha=[1, -1, 0.5])");
  recolors<MatrixPlan<LightingArgs>>(op);
}

AVIDA_OP_IN(augment, planckian_jitter, PlanckianArgs) {
  op.doc("Lights images by a lamp of another temperature. It is the Planckian jitter (Zini et al., 2023).")
      .arg("mode", &PlanckianArgs::mode,
           "\"blackbody\", from 3000 to 15000 kelvin, or \"daylight\", from 4000 (the CIE's illuminant D).")
      .arg("temperature", &PlanckianArgs::temperature, "In kelvin, instead of a random one.")
      .random()
      .example("avida.augment.planckian_jitter(image, temperature=4000)");
  recolors<MatrixPlan<PlanckianArgs>>(op);
}

AVIDA_OP_IN(augment, snow, SnowArgs) {
  op.doc("Lets snow lie on images. What is darker than a limit becomes lighter, in the space HLS.")
      .arg("brightness", &SnowArgs::brightness, "The factor of the lightness.")
      .arg("snow_point", &SnowArgs::snow_point, "The limit is a third of white, and half of this number.")
      .example("avida.augment.snow(image, snow_point=0.3, brightness=2)");
  recolors<TintPlan<Snow, SnowArgs>>(op);
}

AVIDA_OP_IN(augment, to_sepia, SepiaArgs) {
  op.doc("Makes images brown, as old photographs are.")
      .arg("amount", &SepiaArgs::amount, "How much of it, from 0 (the image) to 1.")
      .example("avida.augment.to_sepia(image)");
  recolors<MatrixPlan<SepiaArgs>>(op);
}

}  // namespace avida::ops
