#include "loops/moving/strided_move.h"
#include "loops/warping/warp.h"
#include "ops/geometry/affine.h"
#include "ops/geometry/warp_moves.h"

namespace avida::ops {
namespace {

struct RotateArgs : WarpArgs {
  float angle = 0;
  std::optional<Vec<float>> axis;
  bool keep_size = false;
  Vec<float> size;
};

constexpr double kRightAngle = 1e-6;  // so near to whole numbers, sines and cosines are those of a right angle

struct Rotation {
  const SampleView& in;
  const WarpOptions options;
  const int dims;
  double turn[3][3];  // from the output to the input, in the order x, y, z
  Shape out;

  explicit Rotation(const Sample<RotateArgs>& sample)
      : in(sample.in[0]), options(warp_options(sample.args)), dims(in.layout.find('D') < 0 ? 2 : 3), out(in.shape) {
    const RotateArgs& args = sample.args;
    if (!std::isfinite(args.angle)) refuse("expected a finite angle, got ", args.angle);
    if (dims == 3 && !args.axis) refuse("expected an axis to rotate volumes around");
    if (dims == 2)
      rotation(args.angle, turn);
    else
      rotation(-args.angle, *args.axis, turn);
    if (!args.size.empty())
      set_size(out, in.layout, args.size);
    else if (!args.keep_size)
      set_canvas();
  }

  int axis(int d) const { return std::max(in.layout.find("WHD"[d]), 0); }  // GCC 12 does not know that it is there
  int64_t extent(const Shape& shape, int d) const { return shape[axis(d)]; }

  // The smallest canvas that shows all of the input. Each extent is odd or even as the extent that it mostly comes
  // from, so that rotating by right angles moves pixels and interpolates none.
  void set_canvas() {
    // Volumes are compared in float, which decides at 45 degrees as users know it.
    auto size = [&](int c, int r) {
      return dims == 2 ? std::fabs(turn[c][r]) : std::fabs(static_cast<float>(turn[c][r]));
    };
    for (int r = 0; r < dims; r++) {
      double sum = 0;
      int most = r;
      for (int c = 0; c < dims; c++) {
        sum += std::fabs(turn[c][r]) * static_cast<double>(extent(in.shape, c));
        if (size(c, r) > size(most, r)) most = c;
      }
      auto pixels = static_cast<int64_t>(std::ceil(sum - 0.01));
      pixels += (pixels ^ extent(in.shape, most)) & 1;
      out[in.layout.find("WHD"[r])] = pixels;
    }
  }

  Shape shape() const { return out; }
  int64_t rows(const Sample<RotateArgs>& sample) const {
    const auto move = move_to(sample.out[0]);
    return move ? move->elements.rows() : WarpSample::rows(sample.out[0]);
  }

  struct Move {
    StridedMove elements;
    int64_t first;  // the element of the input that comes first
  };
  // Right angles that fill the canvas move elements as they are.
  std::optional<Move> move_to(const SampleView& canvas) const {
    if (in.dtype != canvas.dtype || in.elements() == 0) return std::nullopt;
    const Shape from = dense_strides(in.shape);
    Shape strides = from;
    int64_t first = 0;
    for (int r = 0; r < dims; r++)
      for (int c = 0; c < dims; c++) {
        const double whole = std::round(turn[r][c]);
        if (std::fabs(turn[r][c] - whole) >= kRightAngle) return std::nullopt;
        if (whole == 0) continue;
        if (extent(in.shape, r) != extent(canvas.shape, c)) return std::nullopt;
        const int64_t stride = from[axis(r)];
        strides[axis(c)] = whole < 0 ? -stride : stride;
        if (whole < 0) first += (extent(in.shape, r) - 1) * stride;
      }
    return Move{StridedMove(size_of(in.dtype), canvas.shape, strides), first};
  }

  // Frames of a sequence share the largest canvas: the output may be larger than shape().
  template <int N>
  Affine<N> map_to(const Shape& canvas) const {
    Affine<N> map;
    for (int r = 0; r < N; r++) {
      double shift = 0.5 * static_cast<double>(extent(in.shape, r));
      for (int c = 0; c < N; c++) {
        map.m[r][c] = static_cast<float>(turn[r][c]);
        shift -= 0.5 * static_cast<double>(extent(canvas, c)) * turn[r][c];
      }
      map.m[r][N] = static_cast<float>(shift);
    }
    return map;
  }
  void run(const Sample<RotateArgs>& sample) const {
    const Shape& canvas = sample.out[0].shape;
    if (const auto move = move_to(sample.out[0]))
      return move->elements.run(sample, sample.out[0].data, in.as<char>() + move->first * size_of(in.dtype));
    WarpSample(sample, options).run(dims == 2 ? AnyAffine(map_to<2>(canvas)) : map_to<3>(canvas));
  }
};

Moves rotate_moves(const Sample<RotateArgs>& sample) {
  Rotation rotation(sample);
  for (auto& row : rotation.turn)  // right angles move positions exactly
    for (double& number : row)
      if (const double whole = std::round(number); std::fabs(number - whole) < kRightAngle) number = whole;
  return moves_of(rotation.map_to<2>(rotation.shape()));
}

}  // namespace

AVIDA_OP(rotate, RotateArgs) {
  using Args = RotateArgs;
  op.doc("Rotates images counter-clockwise or volumes around an axis, about their centre.")
      .input("input", "The images or volumes.", {"HWC", "FHWC", "DHWC", "FDHWC", "CHW", "FCHW"})
      .arg("angle", &Args::angle, "The angle in degrees.", required)
      .arg("axis", &Args::axis, "The axis (x, y, z) to rotate volumes around, of any length.")
      .arg("keep_size", &Args::keep_size, "Keep the input's size, rather than show all of it.", fixed)
      .arg("size", &Args::size,
           "Height and width of the output, for volumes depth first; by default large enough to show all.")
      .example("avida.rotate(image, angle=30, fill_value=0)")
      .infer([](Infer<Args>& call) { infer_warp(call.args, call.out[0]); })
      .each_sample<Rotation>()
      .frames_share_shape()
      .cost(8);
  warp_args(op);
}

AVIDA_MOVES(rotate, RotateArgs, rotate_moves)

}  // namespace avida::ops
