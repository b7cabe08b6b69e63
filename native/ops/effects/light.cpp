// `augment.illumination`, `augment.rain`, `augment.shadow`, `augment.sun_flare`.
#include <algorithm>
#include <cmath>

#include "ops/effects/fields.h"
#include "ops/effects/shaded.h"

namespace avida::ops {

enum class Illumination { linear, corner, gaussian };
AVIDA_CHOICES(Illumination, "linear", "corner", "gaussian")

namespace {

struct IlluminationArgs {
  std::optional<float> angle;
  Vec<float> center;
  std::optional<int> corner;
  float intensity = 0.2f;
  Illumination kind = Illumination::linear;
  float sigma = 0.5f;
};
struct ShadowArgs {
  int corners = 5;
  Vec<float> corners_x, corners_y;
  float darkness = 0.5f;
  int shadows = 1;
};
struct FlareArgs {
  Vec<float> center;
  int circles = 6;
  std::vector<float> color = {1};
  float intensity = 0.8f, radius = 0.5f;
};
struct RainArgs {
  int blur = 7;
  float brightness = 0.7f;
  std::vector<float> color = {0.78f};
  std::optional<int> drops, length;
  float slant = 0;
  int width = 1;
  std::vector<float> x, y;
};

class IlluminationParameters {
 public:
  IlluminationParameters(const Sample<IlluminationArgs>& sample, const ShadeGrid& grid, Shading& shading)
      : args_(sample.args), columns_(grid.width), rows_(grid.height) {
    if (!std::isfinite(args_.intensity)) refuse("expected a finite intensity, got ", args_.intensity);
    RandomStream random(sample.random);
    shading.gain = args_.intensity;
    if (args_.kind == Illumination::linear) make_linear(args_.angle.value_or(drawn_from(random, 0, 360)), shading);
    if (args_.kind == Illumination::corner)
      make_corner(args_.corner.value_or(static_cast<int>(random.below(4))), shading);
    if (args_.kind == Illumination::gaussian) make_gaussian(random);
  }

  GradientField field(const Sample<IlluminationArgs>& sample) const {
    return {readable(sample, columns_), readable(sample, rows_), kind_};
  }

 private:
  // From 0 to 1 along a direction.
  void make_linear(float angle, Shading& shading) {
    if (!std::isfinite(angle)) refuse("expected a finite angle, got ", angle);
    const double x = std::cos(angle * M_PI / 180), y = std::sin(angle * M_PI / 180);
    const double least = std::min(x, 0.0) + std::min(y, 0.0), width = std::fabs(x) + std::fabs(y);
    fill(columns_, [&](double share) { return (share * x - least) / width; });
    fill(rows_, [&](double share) { return share * y / width; });
    shading.base = 1 - args_.intensity;
    shading.gain = 2 * args_.intensity;
    kind_ = GradientField::sum;
  }
  // The distance from a corner, as a share of the diagonal.
  void make_corner(int corner, Shading& shading) {
    if (corner < 0 || corner > 3) refuse("expected a corner from 0 to 3, got ", corner);
    const bool right = corner == 1 || corner == 2, bottom = corner >= 2;
    const double width = static_cast<double>(columns_.size()), height = static_cast<double>(rows_.size());
    const double diagonal = std::hypot(width, height);
    fill(columns_, [&](double share) { return (right ? 1 - share : share) * (width - 1) / diagonal; });
    fill(rows_, [&](double share) { return (bottom ? 1 - share : share) * (height - 1) / diagonal; });
    shading.gain = -args_.intensity;
    kind_ = GradientField::length;
  }
  void make_gaussian(RandomStream& random) {
    const float x = drawn_from(random, 0.1f, 0.9f), y = drawn_from(random, 0.1f, 0.9f);
    if (!args_.center.empty() && args_.center.size() != 2)
      refuse("expected two numbers as center, got ", args_.center.size());
    if (!(args_.sigma > 0)) refuse("expected a sigma above 0, got ", args_.sigma);
    auto bell = [&](std::vector<float>& levels, double center) {
      const double deviation = static_cast<double>(std::max(columns_.size(), rows_.size())) * args_.sigma;
      for (size_t i = 0; i < levels.size(); i++) {
        const double distance = static_cast<double>(i) - center * static_cast<double>(levels.size());
        levels[i] = static_cast<float>(std::exp(-distance * distance / (2 * deviation * deviation)));
      }
    };
    bell(columns_, args_.center.empty() ? x : args_.center[0]);
    bell(rows_, args_.center.empty() ? y : args_.center[1]);
    kind_ = GradientField::product;
  }
  template <class Level>
  static void fill(std::vector<float>& levels, Level&& level) {
    const double last = static_cast<double>(std::max<size_t>(levels.size(), 2) - 1);
    for (size_t i = 0; i < levels.size(); i++) levels[i] = static_cast<float>(level(static_cast<double>(i) / last));
  }

  const IlluminationArgs& args_;
  std::vector<float> columns_, rows_;
  GradientField::Kind kind_ = GradientField::sum;
};

class ShadowParameters {
 public:
  ShadowParameters(const Sample<ShadowArgs>& sample, const ShadeGrid& grid, Shading& shading) {
    const ShadowArgs& args = sample.args;
    const bool given = !args.corners_x.empty() || !args.corners_y.empty();
    const int corners = given ? args.corners_x.size() : args.corners, shadows = given ? 1 : args.shadows;
    check_share("a darkness", args.darkness);
    if (args.corners_x.size() != args.corners_y.size())
      refuse("expected as many corners_y as corners_x, got ", args.corners_y.size(), " and ", args.corners_x.size());
    if (corners < 3 || corners > ShadowField::kMostCorners)
      refuse("expected from 3 to ", ShadowField::kMostCorners, " corners, got ", corners);
    if (shadows < 0 || shadows > 64) refuse("expected from 0 to 64 shadows, got ", shadows);
    RandomStream random(sample.random);
    for (int p = 0; p < shadows; p++) {
      polygons_.push_back({p * corners, corners, args.darkness});
      for (int k = 0; k < corners; k++) {
        const float x = unit_drawn(random), y = unit_drawn(random);
        append(given ? args.corners_x[k] : x, given ? args.corners_y[k] : y, grid);
      }
    }
    shading.gain = -1;
  }

  ShadowField field(const Sample<ShadowArgs>& sample) const {
    return {readable(sample, x_), readable(sample, y_), readable(sample, polygons_),
            static_cast<int>(polygons_.size())};
  }

 private:
  void append(float x, float y, const ShadeGrid& grid) {
    if (!(std::fabs(x) < 1e6f && std::fabs(y) < 1e6f)) refuse("expected finite corners, got ", x, " and ", y);
    x_.push_back(x * static_cast<float>(grid.width));
    y_.push_back(y * static_cast<float>(grid.height));
  }

  std::vector<float> x_, y_;
  std::vector<ShadowField::Polygon> polygons_;
};

class FlareParameters {
 public:
  FlareParameters(const Sample<FlareArgs>& sample, const ShadeGrid& grid, Shading& shading) {
    const FlareArgs& args = sample.args;
    check_share("an intensity", args.intensity);
    if (!args.center.empty() && args.center.size() != 2)
      refuse("expected two numbers as center, got ", args.center.size());
    if (args.circles < 0 || args.circles > 64) refuse("expected from 0 to 64 circles, got ", args.circles);
    if (!(args.radius > 0 && args.radius < 1e6f)) refuse("expected a radius above 0, got ", args.radius);
    RandomStream random(sample.random);
    const float width = static_cast<float>(grid.width), height = static_cast<float>(grid.height);
    float x = unit_drawn(random), y = drawn_from(random, 0, 0.5f);
    if (!args.center.empty()) x = args.center[0], y = args.center[1];
    const float reach = args.radius * std::min(width, height);
    disks_.push_back({x * width, y * height, reach, args.intensity, 3});
    // Reflections in the lens lie on a line through its middle.
    for (int i = 0; i < args.circles; i++) {
      const float along = drawn_from(random, 0.2f, 2), size = drawn_from(random, 0.05f, 0.3f);
      const float share = drawn_from(random, 0.05f, 0.2f) * args.intensity;
      disks_.push_back({(x + along * (0.5f - x)) * width, (y + along * (0.5f - y)) * height, size * reach, share, 0});
    }
    shading.gain = -1;
    set_color(shading, args.color, grid, sample.in[0].dtype);
  }

  DiskField field(const Sample<FlareArgs>& sample) const {
    return {readable(sample, disks_), static_cast<int>(disks_.size())};
  }

 private:
  std::vector<DiskField::Disk> disks_;
};

class RainParameters {
 public:
  RainParameters(const Sample<RainArgs>& sample, const ShadeGrid& grid, Shading& shading)
      : args_(sample.args), x_(args_.x), y_(args_.y) {
    const auto height = static_cast<int>(grid.height), width = static_cast<int>(grid.width);
    const int length = args_.length.value_or(std::max(1, height / 8));
    check(length);
    if (x_.empty()) draw(args_.drops.value_or(height / 3), width, height - length, RandomStream(sample.random));
    field_ = {nullptr,
              nullptr,
              nullptr,
              nullptr,
              args_.slant / static_cast<float>(length),
              static_cast<float>(length),
              static_cast<float>(args_.width),
              0.5f * static_cast<float>(args_.blur),
              1 / static_cast<float>(args_.blur)};
    sort_into_strips((height + StreakField::kStrip - 1) / StreakField::kStrip);
    set_color(shading, args_.color, grid, sample.in[0].dtype);
    shading.base = args_.brightness;
    for (float& color : shading.color) color *= args_.brightness;
  }

  StreakField field(const Sample<RainArgs>& sample) const {
    StreakField field = field_;
    field.x = readable(sample, x_);
    field.y = readable(sample, y_);
    field.begins = readable(sample, begins_);
    field.streaks = readable(sample, streaks_);
    return field;
  }

 private:
  void check(int length) const {
    if (x_.size() != y_.size()) refuse("expected as many y as x, got ", y_.size(), " and ", x_.size());
    for (size_t i = 0; i < x_.size(); i++)
      if (!(std::fabs(x_[i]) < 1e8f && std::fabs(y_[i]) < 1e8f))
        refuse("expected finite places of drops, got ", x_[i], " and ", y_[i]);
    if (args_.blur < 1 || args_.blur > 255) refuse("expected a blur from 1 to 255, got ", args_.blur);
    if (length < 1 || length > 1 << 20) refuse("expected a length from 1 to a million, got ", length);
    if (args_.width < 1 || args_.width > 255) refuse("expected a width from 1 to 255, got ", args_.width);
    if (!(std::fabs(args_.slant) < 1e6f)) refuse("expected a finite slant, got ", args_.slant);
    if (!(args_.brightness >= 0)) refuse("expected a brightness of at least 0, got ", args_.brightness);
  }
  void draw(int drops, int width, int height, RandomStream random) {
    if (drops < 0 || drops > 1 << 20) refuse("expected from 0 to a million drops, got ", drops);
    for (int i = 0; i < drops && width > 0; i++) {
      x_.push_back(static_cast<float>(random.below(static_cast<unsigned>(width))));
      y_.push_back(static_cast<float>(random.below(static_cast<unsigned>(std::max(1, height)))));
    }
  }
  void sort_into_strips(int strips) {
    std::vector<std::vector<int>> found(strips);
    for (size_t i = 0; i < x_.size(); i++) {
      const float begin = (y_[i] - field_.half_blur - 1) / StreakField::kStrip,
                  end = (y_[i] + field_.length + field_.half_blur) / StreakField::kStrip;
      for (int k = std::max(0, static_cast<int>(begin)); k < strips && static_cast<float>(k) <= end; k++)
        found[k].push_back(static_cast<int>(i));
    }
    begins_ = {0};
    for (const auto& strip : found) {
      streaks_.insert(streaks_.end(), strip.begin(), strip.end());
      begins_.push_back(static_cast<int>(streaks_.size()));
    }
  }

  const RainArgs& args_;
  std::vector<float> x_, y_;
  std::vector<int> begins_, streaks_;
  StreakField field_{};
};

}  // namespace

AVIDA_OP_IN(augment, illumination, IlluminationArgs) {
  using Args = IlluminationArgs;
  shades<IlluminationParameters>(op)
      .doc("Makes light uneven, from one side to the other, from a corner or around a place.")
      .arg("angle", &Args::angle,
           "Where a linear gradient leads, in degrees: 0 is to the right, 90 down. By default any direction.")
      .arg("center", &Args::center, "x and y of the middle of a Gaussian, as shares of width and height.")
      .arg("corner", &Args::corner,
           "0 is the upper left one, the others follow clockwise. By default any; light is lost with the distance.")
      .arg("intensity", &Args::intensity, "The largest change, as a share; below 0 it goes the other way.")
      .arg("kind", &Args::kind, "\"linear\", \"corner\" or \"gaussian\".")
      .arg("sigma", &Args::sigma, "The deviation of a Gaussian, as a share of the larger extent.")
      .example("avida.augment.illumination(image, intensity=0.7, angle=20)");
}

AVIDA_OP_IN(augment, rain, RainArgs) {
  using Args = RainArgs;
  shades<RainParameters>(op)
      .doc("Makes images rainy: darker, with blurred streaks that fall from random places.")
      .arg("blur", &Args::blur, "The size of the box that blurs streaks, in pixels.")
      .arg("brightness", &Args::brightness, "The factor of all colours.")
      .arg("color", &Args::color, "The colour of streaks, from 0 to 1: one number, or one for each channel.")
      .arg("drops", &Args::drops, "How many streaks. Default: a third of the height.")
      .arg("length", &Args::length, "The height of streaks in pixels. Default: an eighth of the height.")
      .arg("slant", &Args::slant, "How far to the right streaks end from where they begin, in pixels.")
      .arg("width", &Args::width, "The width of streaks in pixels.")
      .arg("x", &Args::x, "Where streaks begin, instead of random places.")
      .arg("y", &Args::y, "The same along the height.")
      .example("avida.augment.rain(image, drops=150, slant=8, color=1, blur=3)");
}

AVIDA_OP_IN(augment, shadow, ShadowArgs) {
  using Args = ShadowArgs;
  shades<ShadowParameters>(op)
      .doc("Throws shadows that are polygons with random corners.")
      .arg("corners", &Args::corners, "How many corners each shadow has, from 3 to 16.")
      .arg("corners_x", &Args::corners_x, "The corners of one shadow, as shares of the width, instead of random ones.")
      .arg("corners_y", &Args::corners_y, "The same as shares of the height.")
      .arg("darkness", &Args::darkness, "The share of light that a shadow takes.")
      .arg("shadows", &Args::shadows, "How many shadows.")
      .example("avida.augment.shadow(image, corners_x=[0.1, 0.9, 0.6], corners_y=[0.2, 0.5, 0.9])");
}

AVIDA_OP_IN(augment, sun_flare, FlareArgs) {
  using Args = FlareArgs;
  shades<FlareParameters>(op)
      .doc("Makes the sun shine into the camera. Its reflections lie on a line through the middle.")
      .arg("center", &Args::center,
           "x and y of the sun, as shares of width and height. By default any place in the upper half.")
      .arg("circles", &Args::circles, "How many reflections.")
      .arg("color", &Args::color, "The colour of light, from 0 to 1: one number, or one for each channel.")
      .arg("intensity", &Args::intensity, "How much of its colour the sun has in its middle, from 0 to 1.")
      .arg("radius", &Args::radius, "The radius of the sun, as a share of the smaller extent.")
      .example("avida.augment.sun_flare(image, center=[0.2, 0.2], radius=0.8)");
}

}  // namespace avida::ops
