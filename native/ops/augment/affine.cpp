// `augment.affine`, `augment.perspective`.
#include "ops/geometry/affine.h"

#include <array>
#include <cmath>

#include "ops/augment/warped.h"
#include "ops/geometry/warp_moves.h"
#include "ops/geometry/warp_perspective.h"

namespace avida::ops {
namespace {

struct AffineArgs : WarpedArgs {
  float angle = 0;
  Vec<float> rel_translate;
  Vec<float> scale;
  Vec<float> shear;
  Vec<float> size;
  Vec<float> translate;
};

// One number for both axes, or x and y.
std::array<double, 2> both(const char* name, const Vec<float>& given, double otherwise, bool one_for_both) {
  if (given.empty()) return {otherwise, otherwise};
  if (given.size() == 1) return {given[0], one_for_both ? given[0] : otherwise};
  if (given.size() != 2) refuse("expected one number or two, for x and y, as ", name, ", got ", given.size());
  return {given[0], given[1]};
}

class AffineParameters {
 public:
  explicit AffineParameters(const Sample<AffineArgs>& sample) : in_(sample.in[0]), args_(sample.args), out_(in_.shape) {
    Vec<float> size = args_.size;
    if (size.size() == 1) size.push_back(size[0]);
    if (!size.empty()) set_size(out_, in_.layout, size);
  }

  Shape shape() const { return out_; }

  AnyAffine map(const Sample<AffineArgs>&) const { return back(); }

  // From the centre of the output to that of the input.
  Affine<2> back() const {
    const auto scale = both("scale", args_.scale, 1, true), shear = both("shear", args_.shear, 0, false);
    const auto pixels = both("translate", args_.translate, 0, false),
               shares = both("rel_translate", args_.rel_translate, 0, false);
    constexpr double degree = M_PI / 180;
    const double turn = -args_.angle * degree, x = shear[0] * degree, y = shear[1] * degree;
    // Scaled, then sheared along x and along y, then turned.
    const double a = std::cos(turn - y) / std::cos(y), c = std::sin(turn - y) / std::cos(y);
    const double forward[2][2] = {{a * scale[0], (-a * std::tan(x) - std::sin(turn)) * scale[1]},
                                  {c * scale[0], (-c * std::tan(x) + std::cos(turn)) * scale[1]}};
    double inverse[2][2];
    invert(forward, inverse);
    Affine<2> map;
    for (int r = 0; r < 2; r++) {
      double shift = 0.5 * static_cast<double>(extent_of(in_, "WH"[r]));
      for (int k = 0; k < 2; k++) {
        const auto extent = static_cast<double>(extent_of({nullptr, out_, in_.dtype, in_.layout}, "WH"[k]));
        shift -= inverse[r][k] * (0.5 * extent + pixels[k] + shares[k] * extent);
        map.m[r][k] = static_cast<float>(inverse[r][k]);
      }
      map.m[r][2] = static_cast<float>(shift);
    }
    return map;
  }

 private:
  const SampleView& in_;
  const AffineArgs& args_;
  Shape out_;
};

struct PerspectiveByCornersArgs : WarpedArgs {
  Vec<float> corners;
  float distortion = 0.5f;
};

class PerspectiveParameters {
 public:
  explicit PerspectiveParameters(const Sample<PerspectiveByCornersArgs>& sample) {
    const PerspectiveByCornersArgs& args = sample.args;
    if (!args.corners.empty() && args.corners.size() != 8)
      refuse("expected x and y of 4 \"corners\", got ", args.corners.size(), " numbers");
    if (!(args.distortion >= 0 && args.distortion <= 1))
      refuse("expected a distortion from 0 to 1, got ", args.distortion);
    RandomStream random(sample.random);
    const double extent[] = {static_cast<double>(extent_of(sample.in[0], 'W')),
                             static_cast<double>(extent_of(sample.in[0], 'H'))};
    double to[4][2], from[4][2];
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 2; k++) {
        const double end = kCorners[i][k];
        const double inwards = args.distortion * 0.5 * (static_cast<double>(random.next()) * 0x1p-32);
        to[i][k] = extent[k] * (args.corners.empty() ? end + (end > 0 ? -inwards : inwards) : args.corners[2 * i + k]);
        from[i][k] = extent[k] * end;
      }
    set_map(to, from);
  }

  const Perspective& map(const Sample<PerspectiveByCornersArgs>&) const { return map_; }

 private:
  static constexpr double kCorners[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};

  // The map that takes four points of the output to four of the input: two equations for each of them.
  void set_map(const double (&to)[4][2], const double (&from)[4][2]) {
    double equations[8][8] = {}, inverse[8][8];
    for (int i = 0; i < 4; i++)
      for (int k = 0; k < 2; k++) {
        double* row = equations[2 * i + k];
        row[3 * k] = to[i][0], row[3 * k + 1] = to[i][1], row[3 * k + 2] = 1;
        row[6] = -from[i][k] * to[i][0], row[7] = -from[i][k] * to[i][1];
      }
    invert(equations, inverse);
    for (int r = 0; r < 8; r++) {
      double sum = 0;
      for (int i = 0; i < 8; i++) sum += inverse[r][i] * from[i / 2][i % 2];
      map_.m[r / 3][r % 3] = static_cast<float>(sum);
    }
    map_.m[2][2] = 1;
    map_.origin = 0;
  }

  Perspective map_;
};

Moves affine_moves(const Sample<AffineArgs>& sample) { return moves_of(AffineParameters(sample).back()); }

Moves perspective_moves(const Sample<PerspectiveByCornersArgs>& sample) {
  return moves_of(PerspectiveParameters(sample).map(sample), sample.in[0]);
}

}  // namespace

AVIDA_OP_IN(augment, affine, AffineArgs) {
  using Args = AffineArgs;
  warps<AffineParameters>(op)
      .doc("Scales, shears and turns images about their centre, and moves them.")
      .arg("angle", &Args::angle, "The angle in degrees, counter-clockwise.")
      .arg("rel_translate", &Args::rel_translate,
           "By how much of the output's width and height the image moves to the right and down.")
      .arg("scale", &Args::scale, "How many times as large the image becomes: one number, or one for x and one for y.")
      .arg("shear", &Args::shear, "The angles in degrees by which rows and columns are sheared: x, or x and y.")
      .arg("size", &Args::size,
           "Height and width of the output, or one number for both; by default the input's. Centres stay together.")
      .arg("translate", &Args::translate, "By how many pixels the image moves to the right and down.")
      .example("avida.augment.affine(image, scale=0.8, angle=20, shear=10)");
}

AVIDA_MOVES_IN(augment, affine, AffineArgs, affine_moves)

AVIDA_OP_IN(augment, perspective, PerspectiveByCornersArgs) {
  using Args = PerspectiveByCornersArgs;
  warps<PerspectiveParameters>(op)
      .doc("Shows images in perspective: their corners move to given or random places.")
      .arg("corners", &Args::corners,
           "Where the corners go, in shares of width and height: x and y of the upper left one, then clockwise.")
      .arg("distortion", &Args::distortion,
           "Without `corners`: each corner moves inwards by at most half of this share of width and height.")
      .random()
      .example("avida.augment.perspective(image, distortion=0.5)");
}

AVIDA_MOVES_IN(augment, perspective, PerspectiveByCornersArgs, perspective_moves)

}  // namespace avida::ops
