#include "ops/bbox/coord_flip.h"

#include "loops/items/each_item.h"
#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

struct CoordFlipArgs {
  float center_x = 0.5f, center_y = 0.5f, center_z = 0.5f;
  int flip_x = 1, flip_y = 0, flip_z = 0;
  Layout layout;
};

// Coordinate c of all points.
void flip_all(const CoordFlip::Params& params, int64_t c, int64_t points) {
  const float* __restrict in = params.in + c;
  float* __restrict out = params.out + c;
  const float sum = params.twice_center[c];
  const int64_t step = params.count;
  if (params.flips[c])
    for (int64_t i = 0; i < points; i++) out[i * step] = sum - in[i * step];
  else
    for (int64_t i = 0; i < points; i++) out[i * step] = in[i * step];
}

class CoordFlipPlan {
 public:
  explicit CoordFlipPlan(const Sample<CoordFlipArgs>& sample) : shape_(sample.in[0].shape) {
    const CoordFlipArgs& args = sample.args;
    if (shape_.size() != 2 || shape_[1] < 1 || shape_[1] > 3)
      refuse("expected rows of one to three coordinates, got the shape ", shape_);
    const Layout order = args.layout.empty() ? Layout("xyz") : args.layout;
    if (order.size() < shape_[1])
      refuse("expected a letter for each of ", shape_[1], " coordinates in \"layout\", got ", order);
    const float centers[] = {args.center_x, args.center_y, args.center_z};
    const int flips[] = {args.flip_x, args.flip_y, args.flip_z};
    for (int c = 0; c < shape_[1]; c++) {
      params_.twice_center[c] = 2 * centers[order[c] - 'x'];
      params_.flips[c] = flips[order[c] - 'x'] != 0;
    }
    params_.count = shape_[1];
  }

  Shape shape() const { return shape_; }

  void run(const Sample<CoordFlipArgs>& sample) const {
    check_mirrored(sample);
    CoordFlip::Params params = params_;
    params.out = sample.out[0].as<float>();
    params.in = sample.in[0].as<float>();
    each_item<CoordFlip>(sample, 0, sample.in[0].elements(), params, [&] {
      for (int64_t c = 0; c < params.count; c++) flip_all(params, c, shape_[0]);
    });
  }

 private:
  // Where points are mirrored about 0.5, their coordinates are fractions.
  void check_mirrored(const Sample<CoordFlipArgs>& sample) const {
    auto about_half = [&](int64_t c) { return params_.twice_center[c] == 1; };
    bool mirrors = false;
    for (int c = 0; c < params_.count; c++) mirrors |= params_.flips[c] && about_half(c);
    if (!mirrors || sample.launches) return;
    const float* in = sample.in[0].as<float>();
    for (int64_t i = 0; i < sample.in[0].elements(); i++)
      if (about_half(i % params_.count) && std::fabs(in[i]) > kLargestFraction)
        refuse_pixels(in[i], "For pixels pass the centre: half of the width as center_x, of the height as center_y.");
  }

  const Shape shape_;
  CoordFlip::Params params_{};
};

}  // namespace

AVIDA_OP(coord_flip, CoordFlipArgs) {
  using Args = CoordFlipArgs;
  op.doc("Mirrors points: moves chosen coordinates to the other side of a centre.")
      .input("input", "Rows of one to three coordinates.")
      .arg("center_x", &Args::center_x, "The centre along x.")
      .arg("center_y", &Args::center_y, "The centre along y.")
      .arg("center_z", &Args::center_z, "The centre along z.")
      .arg("flip_x", &Args::flip_x, "Whether to mirror along x.")
      .arg("flip_y", &Args::flip_y, "Whether to mirror along y.")
      .arg("flip_z", &Args::flip_z, "Whether to mirror along z.")
      .arg("layout", &Args::layout, "The order of the coordinates; by default x, xy or xyz.")
      .example("avida.coord_flip(np.float32([[0.1, 0.2], [0.5, 0.9]]))")
      .infer([](Infer<Args>& call) {
        check_floats(call.in[0], "coordinates");
        const Layout& layout = call.args.layout;
        for (int i = 0; i < layout.size(); i++)
          if (std::string_view("xyz").find(layout[i]) == std::string_view::npos || layout.find(layout[i]) != i)
            refuse("expected each of x, y and z at most once in \"layout\", got ", layout);
      })
      .each_sample<CoordFlipPlan>();
}

}  // namespace avida::ops
