#include "loops/spectral/spectrum.h"
#include "operator/declare.h"
#include "ops/sound/sound.h"

namespace avida::ops {
namespace {

struct PowerSpectrumArgs {
  int axis = -1;
  std::optional<int> nfft;
  int power = 2;
};

// Every negative number means the last axis.
int axis_of(const PowerSpectrumArgs& args, int ndim) {
  if (args.axis >= ndim) refuse("expected an axis below ", ndim, ", got ", args.axis);
  return args.axis < 0 ? ndim - 1 : args.axis;
}

class PowerSpectrumPlan {
 public:
  explicit PowerSpectrumPlan(const Sample<PowerSpectrumArgs>& sample)
      : shape_(sample.in[0].shape),
        axis_(axis_of(sample.args, shape_.size())),
        spectrum_(grid_of(sample.args), fft_length(sample.args)) {
    shape_[axis_] = spectrum_.bins();
  }

  const Shape& shape() const { return shape_; }
  int64_t rows() const { return spectrum_.groups(); }
  void run(const Sample<PowerSpectrumArgs>& sample) const { spectrum_.run(sample, {}); }

 private:
  long fft_length(const PowerSpectrumArgs& args) const {
    const int64_t length = args.nfft.value_or(0) > 0 ? *args.nfft : shape_[axis_];
    if (length == 0) refuse("expected at least one element along axis ", axis_, ", got the shape ", shape_);
    return length;
  }
  FrameGrid grid_of(const PowerSpectrumArgs& args) const {
    const long length = shape_[axis_], bins = fft_length(args) / 2 + 1;
    FrameGrid grid{};
    grid.window_length = length;
    grid.inner = volume(shape_.span().subspan(axis_ + 1));
    grid.frames = volume(shape_.span().first(axis_)) * grid.inner;
    grid.in_outside = length * grid.inner;
    grid.out_outside = bins * grid.inner;
    grid.in_inside = grid.out_inside = 1;
    grid.in_step = grid.out_step = grid.inner;
    grid.line_length = length;
    grid.border = Border::fill;
    grid.magnitude = args.power == 1;
    return grid;
  }

  Shape shape_;
  const int axis_;
  Spectrum spectrum_;
};

}  // namespace

AVIDA_OP(power_spectrum, PowerSpectrumArgs) {
  using Args = PowerSpectrumArgs;
  op.doc(
        "Computes the power spectrum along an axis. It is the squared magnitude of the Fourier transform, for the "
        "nfft // 2 + 1 frequencies from 0 to half of the sample rate.")
      .input("input", "Signals in float32.")
      .arg("axis", &Args::axis, "The axis to transform; a negative number means the last one.", fixed)
      .arg("nfft", &Args::nfft,
           "The length of the Fourier transform. Signals are cut off or padded with zeros. By default the length of "
           "the signal.",
           fixed)
      .arg("power", &Args::power, "1 for magnitudes, 2 for their squares.", fixed)
      .example("avida.power_spectrum(np.sin(np.arange(1000, dtype=np.float32)))")
      .infer([](Infer<Args>& call) {
        check_float32(call.in[0]);
        if (call.in[0].ndim == 0) refuse("expected at least one axis, got a number");
        axis_of(call.args, call.in[0].ndim);
        check_power(call.args.power);
      })
      .each_sample<PowerSpectrumPlan>()
      .cost(16);
}

}  // namespace avida::ops
