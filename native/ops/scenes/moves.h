// Where the positions of an image go: a second, hidden operator beside one that moves pixels.
//
//   AVIDA_MOVES(flip, FlipArgs, flip_moves) is scenes.flip, with the inputs and arguments of flip. It looks at the
//   shape of the image alone, and gives a matrix for each sample.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/parts/window.h"
#include "operator/declare.h"

namespace avida::ops {

// From a position (x, y, 1) in the input to that in the output, where (0, 0) is the corner of the first pixel.
struct Moves {
  double m[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

  // x and y are scaled first, then shifted. `axis` is 0 for x, 1 for y.
  void scale(int axis, double factor) {
    for (double& number : m[axis]) number *= factor;
  }
  void shift(int axis, double distance) {
    for (int c = 0; c < 3; c++) m[axis][c] += distance * m[2][c];
  }
  void mirror(int axis, int64_t extent) {
    scale(axis, -1);
    shift(axis, static_cast<double>(extent));
  }
};

// The extents of an image along x (0) and y (1), and its axes.
inline int axis_of(const SampleView& image, int axis) { return image.layout.find("WH"[axis]); }
inline int64_t extent_of(const SampleView& image, int axis) { return image.shape[axis_of(image, axis)]; }

inline Moves moves_in(const SampleView& matrix) {
  Moves moves;
  std::memcpy(moves.m, matrix.data, sizeof(moves.m));
  return moves;
}

struct Position {
  double x, y;
};

constexpr double kBeyond = 0x1p22;  // how far away a position lies that comes to be nowhere

// Below and at 0 behind the horizon of a perspective, where nothing is seen.
inline double depth_of(const Moves& moves, double x, double y) {
  return moves.m[2][0] * x + moves.m[2][1] * y + moves.m[2][2];
}

// Positions behind the horizon, or close to it, come far away into the direction in which they vanish.
inline Position moved(const Moves& moves, double x, double y) {
  double to[2];
  for (int r = 0; r < 2; r++) to[r] = moves.m[r][0] * x + moves.m[r][1] * y + moves.m[r][2];
  const double depth = depth_of(moves, x, y), far = std::max(std::fabs(to[0]), std::fabs(to[1]));
  if (!(far >= kBeyond * depth)) return {to[0] / depth, to[1] / depth};
  if (!(far > 0)) return {-kBeyond, -kBeyond};
  return {to[0] / far * kBeyond, to[1] / far * kBeyond};
}

// First `first`, then `then`.
inline Moves product(const Moves& then, const Moves& first) {
  Moves both;
  for (int r = 0; r < 3; r++)
    for (int c = 0; c < 3; c++) {
      both.m[r][c] = 0;
      for (int k = 0; k < 3; k++) both.m[r][c] += then.m[r][k] * first.m[k][c];
    }
  return both;
}

// To a window that has been fitted into the image.
inline Moves moves_to_window(const Window& window, const SampleView& image) {
  Moves moves;
  for (int axis : {0, 1}) moves.shift(axis, -static_cast<double>(window.start[axis_of(image, axis)]));
  return moves;
}

template <auto find, class Args>
class MovesPlan {
 public:
  explicit MovesPlan(const Sample<Args>& sample) : moves_(find(sample)) {}

  Shape shape() const { return {3, 3}; }
  void run(const Sample<Args>& sample) const { std::memcpy(sample.out[0].data, moves_.m, sizeof(moves_.m)); }

 private:
  const Moves moves_;
};

template <auto find, class Args>
int declare_moves(std::string_view name, void (*fill)(Op<Args>&)) {
  Op<Args> op(str("scenes.", name));
  fill(op);
  OpSpec& spec = op.spec;
  spec.infer = [infer = std::move(spec.infer)](Inference& call) {
    infer(call);
    call.out.resize(1);
    call.out[0].dtype = DType::float64;
    call.out[0].ndim = 2;
    call.out[0].layout = {};
  };
  spec.outputs = 1;
  spec.count_outputs = nullptr;
  spec.gpu_run = nullptr;
  spec.chains = spec.per_frame = false;
  op.loop({}).on_cpu().hidden().template each_sample<MovesPlan<find, Args>>();
  return register_op(std::move(spec));
}

#define AVIDA_MOVES_IN(MODULE, NAME, ARGS, FIND)   \
  [[maybe_unused]] static const int moves_##NAME = \
      declare_moves<FIND, ARGS>(#MODULE "." #NAME, declare_##MODULE##_##NAME);
#define AVIDA_MOVES(NAME, ARGS, FIND) \
  [[maybe_unused]] static const int moves_##NAME = declare_moves<FIND, ARGS>(#NAME, declare_##NAME);

}  // namespace avida::ops
