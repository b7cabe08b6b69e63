#include <cmath>
#include <numbers>

#include "loops/spectral/spectrum.h"
#include "operator/declare.h"
#include "ops/sound/sound.h"

namespace avida::ops {
namespace {

enum class AxisOrder { ft, tf };
AVIDA_CHOICES(AxisOrder, "ft", "tf")

struct SpectrogramArgs {
  bool center_windows = true;
  AxisOrder layout = AxisOrder::ft;
  std::optional<int> nfft;
  int power = 2;
  bool reflect_padding = true;
  std::optional<std::vector<float>> window_fn;
  int window_length = 512, window_step = 256;
};

// The Hann window, sampled at the middle of each element.
std::vector<float> hann_window(int length) {
  std::vector<float> window(length);
  for (int t = 0; t < length; t++)
    window[t] = static_cast<float>(0.5 * (1 - std::cos(2 * std::numbers::pi * (t + 0.5) / length)));
  return window;
}

std::shared_ptr<const std::vector<float>> window_of(const SpectrogramArgs& args) {
  if (args.window_fn) return std::make_shared<const std::vector<float>>(*args.window_fn);
  thread_local Recent<int, std::vector<float>, 4> recent;
  return recent.find(args.window_length, hann_window);
}

void infer(Infer<SpectrogramArgs>& call) {
  const SpectrogramArgs& args = call.args;
  check_float32(call.in[0]);
  if (args.window_length <= 0) refuse("expected a window_length above 0, got ", args.window_length);
  if (args.window_step <= 0) refuse("expected a window_step above 0, got ", args.window_step);
  if (args.nfft && *args.nfft < args.window_length)
    refuse("expected an nfft of at least the window_length of ", args.window_length, ", got ", *args.nfft);
  if (args.window_fn && std::ssize(*args.window_fn) != args.window_length)
    refuse("expected window_length = ", args.window_length, " numbers as window_fn, got ", args.window_fn->size());
  check_power(args.power);
  call.out[0].ndim = 2;
  call.out[0].layout = Layout(name_of(args.layout));
}

class SpectrogramPlan {
 public:
  explicit SpectrogramPlan(const Sample<SpectrogramArgs>& sample)
      : by_frequency_(sample.args.layout == AxisOrder::ft),
        frames_(frames_of(sample.args, length_of(sample.in[0].shape))),
        window_(window_of(sample.args)),
        spectrum_(grid_of(sample.args, length_of(sample.in[0].shape)), fft_length(sample.args)) {}

  Shape shape() const { return by_frequency_ ? Shape{spectrum_.bins(), frames_} : Shape{frames_, spectrum_.bins()}; }
  int64_t rows() const { return spectrum_.groups(); }
  void run(const Sample<SpectrogramArgs>& sample) const { spectrum_.run(sample, *window_); }

 private:
  static long fft_length(const SpectrogramArgs& args) { return args.nfft.value_or(args.window_length); }
  static int64_t length_of(const Shape& shape) {
    const int64_t length = volume(shape);
    for (int64_t extent : shape)
      if (extent != 1 && extent != length) refuse("expected a signal of one channel, got the shape ", shape);
    if (length == 0) refuse("expected a signal that is not empty, got the shape ", shape);
    return length;
  }
  static int64_t frames_of(const SpectrogramArgs& args, int64_t length) {
    if (args.center_windows) return length / args.window_step + 1;
    // A signal that is shorter than the window by less than a step gets one, padded with zeros.
    const int64_t frames = (length - args.window_length) / args.window_step + 1;
    if (frames <= 0)
      refuse("expected a signal of at least window_length = ", args.window_length, " elements, got ", length,
             ". Pass center_windows=True to pad it.");
    return frames;
  }
  FrameGrid grid_of(const SpectrogramArgs& args, int64_t length) const {
    const long bins = fft_length(args) / 2 + 1;
    FrameGrid grid{};
    grid.window_length = args.window_length;
    grid.frames = frames_;
    grid.inner = 1;
    grid.in_step = 1;
    grid.line_length = length;
    grid.out_outside = by_frequency_ ? 1 : bins;
    grid.out_step = by_frequency_ ? frames_ : 1;
    grid.hop = args.window_step;
    grid.before = args.center_windows ? args.window_length / 2 : 0;
    grid.border = args.center_windows && args.reflect_padding ? Border::reflect_101 : Border::fill;
    grid.magnitude = args.power == 1;
    return grid;
  }

  bool by_frequency_;
  int64_t frames_;
  std::shared_ptr<const std::vector<float>> window_;
  Spectrum spectrum_;
};

}  // namespace

AVIDA_OP(spectrogram, SpectrogramArgs) {
  using Args = SpectrogramArgs;
  op.doc(
        "Computes the spectrogram of a signal. It has the spectrum of each window of the signal (STFT): "
        "nfft // 2 + 1 frequencies, from 0 to half of the sample rate, and one column for each window.")
      .input("input", "Signals of one channel, in float32.")
      .arg("center_windows", &Args::center_windows,
           "Whether the windows are centred at multiples of `window_step`, and the signal is padded accordingly. "
           "Otherwise only windows inside of the signal are used.",
           fixed)
      .arg("layout", &Args::layout, "The layout of the output: \"ft\" (frequency, time) or \"tf\".")
      .arg("nfft", &Args::nfft, "The length of the Fourier transform; `window_length` by default. Any length is fine.",
           fixed)
      .arg("power", &Args::power, "1 for magnitudes, 2 for their squares.", fixed)
      .arg("reflect_padding", &Args::reflect_padding,
           "Whether centred windows see the signal reflected at its ends. Otherwise they see zeros there.", fixed)
      .arg("window_fn", &Args::window_fn, "The window: `window_length` factors. A Hann window by default.", fixed)
      .arg("window_length", &Args::window_length, "The length of a window, in elements.", fixed)
      .arg("window_step", &Args::window_step, "The distance between windows (the hop), in elements.", fixed)
      .example("avida.spectrogram(np.sin(np.arange(1000, dtype=np.float32)), window_length=200, window_step=100)")
      .infer(infer)
      .each_sample<SpectrogramPlan>()
      .cost(16);
}

}  // namespace avida::ops
