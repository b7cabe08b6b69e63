// `augment.fog`, `augment.plasma_brightness`, `augment.plasma_contrast`, `augment.plasma_shadow`, `augment.spatter`.
#include <algorithm>
#include <cmath>

#include "ops/effects/fields.h"
#include "ops/effects/shaded.h"
#include "ops/random/tiles.h"

namespace avida::ops {
namespace {

struct PlasmaArgs {
  float roughness = 0.5f;
};
struct BrightnessArgs : PlasmaArgs {
  float brightness = 0.4f;
};
struct ContrastArgs : PlasmaArgs {
  float contrast = 0.4f;
};
struct PlasmaShadowArgs : PlasmaArgs {
  float intensity = 0.5f;
};
struct FogArgs : PlasmaArgs {
  std::vector<float> color = {1};
  float density = 0.6f;
};
struct SpatterArgs : PlasmaArgs {
  std::vector<float> color = {0.25f, 0.16f, 0.08f};
  float cover = 0.3f, intensity = 0.6f;

  SpatterArgs() : PlasmaArgs{0.8f} {}
};

struct NodeGrid {
  int64_t rows, columns;
  // With half as many intervals; at least four nodes, as splines need.
  NodeGrid half() const { return {(rows + 1) / 2 + 2, (columns + 1) / 2 + 2}; }
  int64_t count() const { return rows * columns; }
};

// Nodes twice as dense as `coarse`: the same spline (Lane and Riesenfeld, 1980), from the second node of it on.
AVIDA_CLONES void refine(const float* coarse, const NodeGrid& from, float* fine, const NodeGrid& to) {
  auto joined = [](bool odd, float a, float b, float c) { return odd ? (b + c) * 0.5f : (a + 6 * b + c) * 0.125f; };
  std::vector<float> line(from.columns);
  for (int64_t y = 0; y < to.rows; y++) {
    const float* at = coarse + y / 2 * from.columns;
    for (int64_t x = 0; x < from.columns; x++)
      line[x] = joined(y % 2, at[x], at[x + from.columns], at[x + 2 * from.columns]);
    float* out = fine + y * to.columns;
    for (int64_t x = 0; 2 * x < to.columns; x++) out[2 * x] = joined(false, line[x], line[x + 1], line[x + 2]);
    for (int64_t x = 0; 2 * x + 1 < to.columns; x++) out[2 * x + 1] = joined(true, line[x], line[x + 1], line[x + 2]);
  }
}

// Noise of many sizes: each grid of nodes is twice as dense as the one before, and its numbers `roughness` as large.
// All are from 0 to 1 in the end.
std::vector<float> fractal_nodes(const NodeGrid& last, float roughness, const RandomKey& key) {
  constexpr int64_t kFewest = 6;
  std::vector<NodeGrid> grids{last};
  while (std::max(grids.back().rows, grids.back().columns) > kFewest) grids.push_back(grids.back().half());
  int64_t all = 0;
  for (const NodeGrid& grid : grids) all += grid.count();
  std::vector<float> drawn(all), nodes;
  draw_numbers(drawn.data(), key, 0, all, Uniform<float>{-0.5f, 1, 1});
  const float* next = drawn.data();
  float amplitude = 1;
  for (auto grid = grids.rbegin(); grid != grids.rend(); grid++, amplitude *= roughness) {
    std::vector<float> made(grid->count());
    if (!nodes.empty()) refine(nodes.data(), *(grid - 1), made.data(), *grid);
    for (float& node : made) node += amplitude * *next++;
    nodes = std::move(made);
  }
  const auto [least, most] = std::minmax_element(nodes.begin(), nodes.end());
  const float low = *least, scale = *most > low ? 1 / (*most - low) : 0;
  for (float& node : nodes) node = (node - low) * scale;
  return nodes;
}

class Noise {
 public:
  Noise(const SampleWork& sample, const ShadeGrid& grid, float roughness)
      : grid_{grid.height / NoiseField::kStep + 4, grid.width / NoiseField::kStep + 4} {
    check_share("a roughness", roughness);
    nodes_ = fractal_nodes(grid_, roughness, sample.random);
  }

  // The level below which a share of the nodes lies.
  float quantile(float share) const {
    std::vector<float> sorted = nodes_;
    const auto at = static_cast<int64_t>(share * static_cast<float>(std::ssize(sorted) - 1));
    std::nth_element(sorted.begin(), sorted.begin() + at, sorted.end());
    return sorted[at];
  }
  NoiseField field(const SampleWork& sample) const {
    return {readable(sample, nodes_), static_cast<int>(grid_.columns), slope, offset};
  }

  float slope = 1, offset = 0;

 private:
  const NodeGrid grid_;
  std::vector<float> nodes_;
};

void set_shading(const Sample<BrightnessArgs>& sample, const ShadeGrid&, Noise&, Shading& shading) {
  const float by = sample.args.brightness;
  if (!std::isfinite(by)) refuse("expected a finite brightness, got ", by);
  for (float& color : shading.color) color = by * range_of_colors(sample.in[0].dtype);
}
void set_shading(const Sample<ContrastArgs>& sample, const ShadeGrid&, Noise&, Shading& shading) {
  shading.gain = sample.args.contrast;
  if (!std::isfinite(shading.gain)) refuse("expected a finite contrast, got ", shading.gain);
  for (float& color : shading.color) color = -0.5f * shading.gain * range_of_colors(sample.in[0].dtype);
}
void set_shading(const Sample<PlasmaShadowArgs>& sample, const ShadeGrid&, Noise&, Shading& shading) {
  check_share("an intensity", sample.args.intensity);
  shading.gain = -sample.args.intensity;
}
void set_shading(const Sample<FogArgs>& sample, const ShadeGrid& grid, Noise& noise, Shading& shading) {
  check_share("a density", sample.args.density);
  noise.slope = noise.offset = 0.5f * sample.args.density;
  shading.gain = -1;
  set_color(shading, sample.args.color, grid, sample.in[0].dtype);
}
void set_shading(const Sample<SpatterArgs>& sample, const ShadeGrid& grid, Noise& noise, Shading& shading) {
  constexpr float edge = 20;  // how steep levels are where drops end
  const SpatterArgs& args = sample.args;
  check_share("a cover", args.cover);
  check_share("an intensity", args.intensity);
  noise.slope = edge;
  noise.offset = 0.5f - edge * noise.quantile(1 - args.cover);
  if (args.cover == 0) noise.slope = noise.offset = 0;
  shading.gain = -args.intensity;
  const std::vector<float>& color = args.color;
  set_color(shading, grid.channels != 3 && color.size() == 3 ? std::span(color).first(1) : std::span(color), grid,
            sample.in[0].dtype);
  for (float& each : shading.color) each *= args.intensity;
}

template <class Args>
class NoiseParameters {
 public:
  NoiseParameters(const Sample<Args>& sample, const ShadeGrid& grid, Shading& shading)
      : noise_(sample, grid, sample.args.roughness) {
    set_shading(sample, grid, noise_, shading);
  }
  NoiseField field(const Sample<Args>& sample) const { return noise_.field(sample); }

 private:
  Noise noise_;
};

template <class Args>
Op<Args>& clouds(Op<Args>& op) {
  return shades<NoiseParameters<Args>>(op).arg(
      "roughness", &Args::roughness, "How strong small clouds are in relation to those of twice the size, up to 1.");
}

}  // namespace

AVIDA_OP_IN(augment, fog, FogArgs) {
  clouds(op)
      .doc("Lays fog over images, which is denser in some places than in others.")
      .arg("color", &FogArgs::color, "The colour of the fog, from 0 to 1: one number, or one for each channel.")
      .arg("density", &FogArgs::density, "The share of the fog where it is densest; it is at least half as dense.")
      .example("avida.augment.fog(image, density=0.8)");
}

AVIDA_OP_IN(augment, plasma_brightness, BrightnessArgs) {
  clouds(op)
      .doc("Makes images brighter or darker in clouds. Fractal noise from 0 to 1, times a number, is added.")
      .arg("brightness", &BrightnessArgs::brightness, "What is added at most, in units of white.")
      .example("avida.augment.plasma_brightness(image, brightness=0.6)");
}

AVIDA_OP_IN(augment, plasma_contrast, ContrastArgs) {
  clouds(op)
      .doc("Changes the contrast in clouds. Distances from the middle gray grow by fractal noise times a number.")
      .arg("contrast", &ContrastArgs::contrast, "The largest growth, as a share; below 0 the contrast is less.")
      .example("avida.augment.plasma_contrast(image, contrast=1)");
}

AVIDA_OP_IN(augment, plasma_shadow, PlasmaShadowArgs) {
  clouds(op)
      .doc("Throws shadows of clouds. Fractal noise from 0 to 1, times a number, is the share of light they take.")
      .arg("intensity", &PlasmaShadowArgs::intensity, "The share of the darkest place, from 0 to 1.")
      .example("avida.augment.plasma_shadow(image, intensity=0.9)");
}

AVIDA_OP_IN(augment, spatter, SpatterArgs) {
  using Args = SpatterArgs;
  clouds(op)
      .doc("Spatters a lens with mud or rain. The drops hide what is behind them.")
      .arg("color", &Args::color,
           "The colour of drops, from 0 to 1: one number, or one for each channel. Default: mud. Images without three "
           "channels take the first of three numbers.")
      .arg("cover", &Args::cover, "The share of the image that drops cover.")
      .arg("intensity", &Args::intensity, "How much drops hide, from 0 to 1.")
      .example("avida.augment.spatter(image, cover=0.2, intensity=0.9)");
}

}  // namespace avida::ops
