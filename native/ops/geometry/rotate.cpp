#include "op/warp.h"
#include "ops/geometry/affine.h"

namespace avida::ops {
namespace {

struct RotateArgs : WarpArgs {
  float angle = 0;
  std::optional<Vec<float>> axis;
  bool keep_size = false;
  Vec<float> size;
};

// From the output to the input, without the shift.
void turn(const RotateArgs& args, double (&m)[2][2]) { rotation(args.angle, m); }
void turn(const RotateArgs& args, double (&m)[3][3]) {
  if (!args.axis) fail(ErrorKind::runtime, "expected an axis to rotate volumes around");
  rotation(-args.angle, *args.axis, m);
}

// The smallest canvas that shows all of the input. Each extent is odd or even as the extent that it mostly comes from,
// so that pixels are not mixed where turning by right angles only moves them.
template <int N>
void set_canvas(const RotateArgs& args, const SampleView& in, Shape& out) {
  using Real = std::conditional_t<N == 2, double, float>;  // which decides at 45 degrees, as users know it
  double m[N][N];
  turn(args, m);
  for (int r = 0; r < N; r++) {
    double extent = 0;
    int most = r;
    for (int c = 0; c < N; c++) {
      extent += std::fabs(m[c][r]) * static_cast<double>(in.shape[in.layout.find("WHD"[c])]);
      if (std::fabs(static_cast<Real>(m[c][r])) > std::fabs(static_cast<Real>(m[most][r]))) most = c;
    }
    auto pixels = static_cast<int64_t>(std::ceil(extent - 0.01));
    pixels += (pixels ^ in.shape[in.layout.find("WHD"[most])]) & 1;
    out[in.layout.find("WHD"[r])] = pixels;
  }
}

void shape(Sample<RotateArgs>& sample) {
  const RotateArgs& args = sample.args;
  const SampleView& in = sample.in[0];
  if (!std::isfinite(args.angle)) fail(ErrorKind::runtime, "expected a finite angle, got ", args.angle);
  sample.out[0].shape = in.shape;
  if (!args.size.empty())
    set_size(sample.out[0].shape, in.layout, args.size);
  else if (!args.keep_size && in.layout.find('D') < 0)
    set_canvas<2>(args, in, sample.out[0].shape);
  else if (!args.keep_size)
    set_canvas<3>(args, in, sample.out[0].shape);
}

template <int N>
void rotate(const WarpSample& work, const Sample<RotateArgs>& sample) {
  double m[N][N];
  turn(sample.args, m);
  Affine<N> map;
  const SampleView &in = sample.in[0], &out = sample.out[0];
  for (int r = 0; r < N; r++) {
    double shift = 0.5 * static_cast<double>(in.shape[in.layout.find("WHD"[r])]);
    for (int c = 0; c < N; c++) {
      map.m[r][c] = static_cast<float>(m[r][c]);
      shift -= 0.5 * static_cast<double>(out.shape[in.layout.find("WHD"[c])]) * m[r][c];
    }
    map.m[r][N] = static_cast<float>(shift);
  }
  work.run(map, sample.begin, sample.end);
}

}  // namespace

AVIDA_OP(rotate, RotateArgs) {
  using Args = RotateArgs;
  op.doc("Turns images counter-clockwise, or volumes around an axis, about their centre.")
      .input("input", "The images or volumes.", {"HWC", "FHWC", "DHWC", "FDHWC"})
      .arg("angle", &Args::angle, "The angle in degrees.", required)
      .arg("axis", &Args::axis, "The axis (x, y, z) to turn volumes around, of any length.")
      .arg("keep_size", &Args::keep_size, "Keep the input's size, rather than to show all of it.", fixed)
      .arg("size", &Args::size,
           "Height and width of the output, for volumes depth first; by default large enough to show all.")
      .example("avida.rotate(image, angle=30, fill_value=0)")
      .infer([](Infer<Args>& call) { infer_warp(call.args, call.out[0]); })
      .each_sample(shape,
                   [](const Sample<Args>& sample) {
                     WarpSample work(sample.in[0], sample.out[0], warp_options(sample.args), sample.launches);
                     work.dims() == 2 ? rotate<2>(work, sample) : rotate<3>(work, sample);
                   })
      .rows([](const Sample<Args>& sample) { return WarpSample::rows(sample.out[0]); })
      .frames_share_shape()
      .on_gpu()
      .cost(8);
  warp_args(op);
}

}  // namespace avida::ops
