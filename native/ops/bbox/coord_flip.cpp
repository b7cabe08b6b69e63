#include "ops/bbox/coord_flip.h"

#include "op/each_item.h"
#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

struct CoordFlipArgs {
  float center_x = 0.5f, center_y = 0.5f, center_z = 0.5f;
  int flip_x = 1, flip_y = 0, flip_z = 0;
  Layout layout;
};

// The order of the coordinates: as given, or the first letters of xyz.
Layout coordinate_order(const CoordFlipArgs& args, int64_t count) {
  if (args.layout.empty()) return std::string_view("xyz").substr(0, static_cast<size_t>(count));
  return args.layout;
}

void set_shape(Sample<CoordFlipArgs>& sample) {
  const Shape& shape = sample.in[0].shape;
  if (shape.size() != 2 || shape[1] < 1 || shape[1] > 3)
    fail(ErrorKind::runtime, "expected rows of one to three coordinates, got the shape ", shape);
  const Layout order = coordinate_order(sample.args, shape[1]);
  if (order.size() < shape[1])
    fail(ErrorKind::runtime, "expected a letter for each of ", shape[1], " coordinates in \"layout\", got ", order);
  sample.out[0].shape = shape;
}

}  // namespace

AVIDA_OP(coord_flip, CoordFlipArgs) {
  using Args = CoordFlipArgs;
  op.doc("Mirrors points: each chosen coordinate is moved to the other side of a centre.")
      .input("input", "Rows of coordinates.")
      .arg("center_x", &Args::center_x, "The middle along x.")
      .arg("center_y", &Args::center_y, "The middle along y.")
      .arg("center_z", &Args::center_z, "The middle along z.")
      .arg("flip_x", &Args::flip_x, "Mirror along x.")
      .arg("flip_y", &Args::flip_y, "Mirror along y.")
      .arg("flip_z", &Args::flip_z, "Mirror along z.")
      .arg("layout", &Args::layout, "The order of the coordinates; by default x, xy or xyz.")
      .example("avida.coord_flip(np.float32([[0.1, 0.2], [0.5, 0.9]]))")
      .infer([](Infer<Args>& call) {
        check_floats(call.in[0], "coordinates");
        const Layout& layout = call.args.layout;
        for (int i = 0; i < layout.size(); i++)
          if (std::string_view("xyz").find(layout[i]) == std::string_view::npos || layout.find(layout[i]) != i)
            fail(ErrorKind::runtime, "expected each of x, y and z at most once in \"layout\", got ", layout);
      })
      .each_sample(set_shape,
                   [](const Sample<Args>& sample) {
                     const Args& args = sample.args;
                     const int64_t count = sample.in[0].shape[1];
                     const Layout order = coordinate_order(args, count);
                     CoordFlip::Params params{
                         .out = sample.out[0].as<float>(), .in = sample.in[0].as<float>(), .count = count};
                     for (int c = 0; c < count; c++) {
                       const int axis = order[c] - 'x';
                       const float center = axis == 0 ? args.center_x : axis == 1 ? args.center_y : args.center_z;
                       params.twice_center[c] = 2 * center;
                       params.flips[c] = (axis == 0 ? args.flip_x : axis == 1 ? args.flip_y : args.flip_z) != 0;
                     }
                     each_item<CoordFlip>(sample, 0, sample.in[0].elements(), params);
                   })
      .on_gpu();
}

}  // namespace avida::ops
