#include <memory>
#include <optional>
#include <vector>

#include "codecs/audio/decode_audio.h"
#include "operator/declare.h"
#include "ops/decode/decode.h"

namespace avida::ops {
namespace {

struct AudioArgs {
  bool downmix = false;
  DType dtype = DType::float32;
  OnError on_error = OnError::raise;
  float quality = 50, sample_rate = 0;
  std::optional<double> start, end;
  std::optional<int> stream;
};

codecs::AudioRequest request_of(const AudioArgs& args) {
  return {args.dtype, args.downmix, args.quality, args.sample_rate};
}

codecs::OpenedSound open(const Sample<AudioArgs>& sample) {
  const AudioArgs& args = sample.args;
  if (args.stream && *args.stream < 0) refuse("expected a stream of at least 0, got ", *args.stream);
  codecs::SoundRange range;
  if (args.start) range.start = *args.start;
  if (args.end) range.end = *args.end;
  return codecs::open_sound(encoded_bytes(sample.in[0]), args.stream.value_or(-1), range);
}

void infer(Infer<AudioArgs>& call) {
  const Meta& in = call.in[0];
  if (in.dtype != DType::uint8 || in.ndim != 1)
    refuse("expected the bytes of audio files (uint8, one axis), got ", in.dtype, " with ", in.ndim, " axes");
  codecs::check_audio_request(request_of(call.args));
  call.out[0].dtype = call.args.dtype;
  call.out[0].ndim = call.args.downmix ? 1 : 2;
  call.out[1].dtype = DType::float32;
  call.out[1].ndim = 0;
  for (Meta& out : call.out) out.layout = {};
}

// Opening takes long in some formats: a file stays open from finding its shape to decoding it, but not too many do.
constexpr int kMostOpen = 128;

class AudioPlan {
 public:
  static constexpr bool takes_long = true;

  explicit AudioPlan(const Sample<AudioArgs>& sample) : request_(request_of(sample.args)) {
    auto opened = open(sample);
    shape_ = shape_of(opened);
    if (sample.index < kMostOpen) opened_ = std::move(opened);
  }
  void shape(Sample<AudioArgs>& sample) const {
    sample.out[0].shape = shape_;
    sample.out[1].shape = {};
  }
  void run(const Sample<AudioArgs>& sample) const {
    auto [sound, segment] = opened_.sound ? std::move(opened_) : open(sample);
    if (codecs::audio_shape(sound->info(), request_, segment) != shape_) refuse(codecs::kChangedText);
    codecs::decode_audio(*sound, request_, segment, sample.out[0].data);
    const double rate = request_.sample_rate > 0 ? request_.sample_rate : sound->info().rate;
    *sample.out[1].as<float>() = static_cast<float>(rate);
  }

 private:
  Shape shape_of(const codecs::OpenedSound& opened) const {
    return codecs::audio_shape(opened.sound->info(), request_, opened.segment);
  }

  const codecs::AudioRequest request_;
  Shape shape_;
  mutable codecs::OpenedSound opened_{};  // closed as soon as it is decoded
};

}  // namespace

AVIDA_OP_IN(decoders, audio, AudioArgs) {
  op.doc(
        "Decodes audio files, and the sound tracks of films. Returns the samples, of shape (frames, channels), and the "
        "sample rate in Hz. WAV, FLAC, Ogg, MP3, AAC, ALAC, Opus, AC-3, PCM and others are read, also in MP4, M4A, "
        "MOV, "
        "MKV, WebM, AVI and TS. What encoders put in front of the sound and edit lists cut off is left out.")
      .input("input", "The bytes of audio files, or of films.")
      .outputs(2)
      .arg("downmix", &AudioArgs::downmix, "Whether to return the mean of the channels, without an axis for them.",
           fixed)
      .arg("dtype", &AudioArgs::dtype,
           "The element type: float32, from -1 to 1, or int16 or int32, which use the whole range of their type.")
      .arg("end", &AudioArgs::end, "The time in seconds after the first sample at which to stop. Default: the end.")
      .arg("on_error", &AudioArgs::on_error,
           "What to do with a file that cannot be decoded: \"raise\", or \"placeholder\", which returns an empty "
           "sample; "
           "`batch.errors` has the reason, and `avida.drop_failed` removes the sample.")
      .arg("quality", &AudioArgs::quality,
           "The quality of resampling: 0 uses 3 lobes of the sinc filter on each side, 50 uses 16, 100 uses 64.", fixed)
      .arg("sample_rate", &AudioArgs::sample_rate, "The sample rate in Hz to resample to; 0 keeps that of the file.")
      .arg("start", &AudioArgs::start, "The time in seconds after the first sample at which to start. Default: 0.")
      .arg("stream", &AudioArgs::stream,
           "The number of the stream to decode, of all streams of the file; FFmpeg decodes it then. Default: the one "
           "that "
           "FFmpeg takes for the best.")
      .example(
          "avida.decoders.audio(np.frombuffer(b\".snd\\0\\0\\0\\x18\\0\\0\\0\\2\\0\\0\\0\\2\\0\\0\\x1f@\\0\\0\\0\\1@"
          "\\xc0\", np.uint8))")
      .takes_files()
      .raises(kRaises)
      .infer(infer)
      .on_cpu()
      .each_sample<AudioPlan>()
      .replace([](Sample<AudioArgs>& sample) {
        if (sample.args.on_error != OnError::placeholder) return false;
        sample.out[0].shape = sample.args.downmix ? Shape{0} : Shape{0, 1};
        sample.out[1].shape = {};
        return true;
      })
      .largest_first()
      .cost(kDecodeCost);
}

}  // namespace avida::ops
