#include "ops/sound/audio_resample.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "codecs/audio/resample_audio.h"
#include "operator/declare.h"
#include "operator/launches.h"

namespace avida::ops {
namespace {

struct AudioResampleArgs {
  DType dtype = DType::none;
  std::optional<float> in_rate;
  std::optional<int64_t> out_length;
  std::optional<float> out_rate;
  float quality = 50;
  std::optional<float> scale;
};

constexpr int64_t kRow = 8192;  // elements of a signal that one thread makes at a time

bool is_sound(DType dtype) { return dtype == DType::float32 || (!is_float(dtype) && size_of(dtype) <= 4); }

bool is_unsigned(DType dtype) { return !is_float(dtype) && !is_signed(dtype); }

// The greatest number of a type; 1 for floats.
float range_of(DType dtype) {
  return is_float(dtype) ? 1 : std::ldexp(1.0f, size_of(dtype) * 8 - !is_unsigned(dtype)) - 1;
}

SoundLevels levels_of(DType from, DType to) {
  SoundLevels levels{static_cast<int>(from), static_cast<int>(to), 1 / range_of(from), 0, range_of(to)};
  if (is_unsigned(from) && !is_unsigned(to)) {
    levels.scale *= 2;
    levels.offset = -1;
  } else if (!is_unsigned(from) && is_unsigned(to)) {
    levels.scale /= 2;
    levels.offset = 0.5f;
  }
  return levels;
}

// Sample rates whose ratio is that of the arguments.
struct Rates {
  double in, out;
};

Rates rates_of(const AudioResampleArgs& args, int64_t length) {
  if (args.scale) {
    if (!(*args.scale >= 0)) refuse("expected a scale of at least 0, got ", *args.scale);
    return {1, *args.scale};
  }
  if (args.out_length) {
    if (*args.out_length < 0) refuse("expected an out_length of at least 0, got ", *args.out_length);
    if (length == 0 && *args.out_length > 0)
      refuse("an empty signal cannot become one of ", *args.out_length, " elements");
    return {static_cast<double>(length), static_cast<double>(*args.out_length)};
  }
  if (!(*args.in_rate > 0)) refuse("expected an in_rate above 0, got ", *args.in_rate);
  if (!(*args.out_rate >= 0)) refuse("expected an out_rate of at least 0, got ", *args.out_rate);
  return {*args.in_rate, *args.out_rate};
}

class AudioResamplePlan {
 public:
  explicit AudioResamplePlan(const Sample<AudioResampleArgs>& sample)
      : shape_(sample.in[0].shape),
        length_(shape_[0]),
        channels_(shape_.size() > 1 ? shape_[1] : 1),
        rates_(rates_of(sample.args, length_)),
        lobes_(resampling_lobes(sample.args.quality)),
        direct_(sample.in[0].dtype == DType::float32 && !is_unsigned(sample.out[0].dtype) && channels_ == 1) {
    if (sample.args.out_length)
      shape_[0] = *sample.args.out_length;
    else
      shape_[0] = rates_.out > 0 ? resampled_length(length_, rates_.in, rates_.out) : 0;
  }

  const Shape& shape() const { return shape_; }
  int64_t rows() const { return channels_ * rows_of_channel(); }

  void run(const Sample<AudioResampleArgs>& sample) const {
    const SampleView &in = sample.in[0], &out = sample.out[0];
    if (out.elements() == 0) return;
    const ResamplingFilter& filter = ResamplingFilter::shared(lobes_);
    if (sample.launches) {
      return sample.launches->add<AudioResample>(0, out.elements(),
                                                 {.out = out.data,
                                                  .in = in.data,
                                                  .levels = levels_of(in.dtype, out.dtype),
                                                  .weights = sample.launches->upload(std::span(filter.weights())),
                                                  .lobes = lobes_,
                                                  .taps = filter.taps(),
                                                  .length = length_,
                                                  .channels = channels_,
                                                  .step = rates_.in / rates_.out});
    }
    for (int64_t row = sample.begin; row < sample.end; row++) run_row(filter, in, out, row);
  }

 private:
  // A thread that has to convert its input first makes the whole of a channel.
  int64_t row_length() const { return direct_ ? kRow : std::max<int64_t>(1, shape_[0]); }
  int64_t rows_of_channel() const { return (shape_[0] + row_length() - 1) / row_length(); }

  void run_row(const ResamplingFilter& filter, const SampleView& in, const SampleView& out, int64_t row) const {
    const int64_t channel = row / rows_of_channel(), begin = row % rows_of_channel() * row_length();
    const int64_t end = std::min(shape_[0], begin + row_length());
    const SoundLevels levels = levels_of(in.dtype, out.dtype);
    std::vector<float> signal(direct_ ? 0 : length_), made;
    if (!direct_)
      for (int64_t i = 0; i < length_; i++) signal[i] = levels.load(in.data, i * channels_ + channel);
    float* const direct = out.dtype == DType::float32 && channels_ == 1 ? out.as<float>() + begin : nullptr;
    if (!direct) made.resize(end - begin);
    filter.run(direct_ ? in.as<float>() : signal.data(), length_, rates_.in, rates_.out, begin, end,
               direct ? direct : made.data());
    if (direct) return;
    for (int64_t i = begin; i < end; i++) levels.store(out.data, i * channels_ + channel, made[i - begin]);
  }

  Shape shape_;
  const int64_t length_, channels_;
  const Rates rates_;
  const int lobes_;
  const bool direct_;  // the filter can read the input itself
};

void infer(Infer<AudioResampleArgs>& call) {
  const AudioResampleArgs& args = call.args;
  const Meta& in = call.in[0];
  auto given = [&](const char* name, bool fixed) { return fixed || call.call.per_sample(name); };
  const bool in_rate = given("in_rate", args.in_rate.has_value()),
             out_rate = given("out_rate", args.out_rate.has_value());
  const bool scale = given("scale", args.scale.has_value()), length = given("out_length", args.out_length.has_value());
  if (in_rate != out_rate) refuse("expected \"in_rate\" and \"out_rate\" together, got one of them");
  if (in_rate + scale + length != 1)
    refuse("expected one of \"scale\", \"out_length\", and \"in_rate\" with \"out_rate\", got ",
           in_rate + scale + length == 0 ? "none" : "more");
  if (in.ndim != 1 && in.ndim != 2) refuse("expected signals with the axes time, or time and channels, got ", in.ndim);
  const DType dtype = args.dtype == DType::none ? in.dtype : args.dtype;
  for (DType each : {in.dtype, dtype})
    if (!is_sound(each) || each == DType::boolean) refuse("expected float32 or integers of up to 32 bits, got ", each);
  resampling_lobes(args.quality);
  call.out[0].dtype = dtype;
}

}  // namespace

AVIDA_OP(audio_resample, AudioResampleArgs) {
  using Args = AudioResampleArgs;
  op.doc(
        "Resamples signals with a sinc filter under a Hann window. The ratio of lengths is given by `scale`, by "
        "`out_length`, or by `in_rate` and `out_rate`.")
      .input("input", "The signals: float32 or integers of up to 32 bits, with the axes time, or time and channels.")
      .arg(
          "dtype", &Args::dtype,
          "The element type of the output; by default the input's. Values are scaled to the range of the type: -1 to 1 "
          "for floats, the whole range for integers, with silence in the middle.")
      .arg("in_rate", &Args::in_rate, "The sample rate of the input, in the unit of `out_rate`.")
      .arg("out_length", &Args::out_length, "The length of the output, in elements.")
      .arg("out_rate", &Args::out_rate, "The sample rate of the output, in the unit of `in_rate`.")
      .arg("quality", &Args::quality,
           "The quality: 0 uses 3 lobes of the sinc filter on each side, 50 uses 16, 100 uses 64.", fixed)
      .arg("scale", &Args::scale, "The sample rate of the output divided by that of the input.")
      .example("avida.audio_resample(np.sin(np.arange(100, dtype=np.float32)), in_rate=16000, out_rate=8000)")
      .infer(infer)
      .each_sample<AudioResamplePlan>()
      .cost(32);
}

}  // namespace avida::ops
