#include <memory>
#include <vector>

#include "codecs/audio/decode_audio.h"
#include "codecs/audio/sound_track.h"
#include "operator/declare.h"
#include "ops/decode/decode.h"
#include "ops/decode/video_frames.h"

namespace avida::ops {
namespace {

struct MediaArgs {
  bool adjust_orientation = false, downmix = false;
  std::optional<double> end, fps, start;
  std::optional<int> num_frames, stride;
  OnError on_error = OnError::raise;
  float quality = 50, sample_rate = 0;
};

ClipFrames frames_asked(const MediaArgs& args) {
  ClipFrames choice;
  choice.start = args.start, choice.end = args.end, choice.fps = args.fps;
  choice.num_frames = args.num_frames, choice.stride = args.stride;
  return choice;
}

codecs::AudioRequest sound_request(const MediaArgs& args) {
  return {DType::float32, args.downmix, args.quality, args.sample_rate};
}

void infer(Infer<MediaArgs>& call) {
  const Meta& in = call.in[0];
  if (in.dtype != DType::uint8 || in.ndim != 1)
    refuse("expected the bytes of video files (uint8, one axis), got ", in.dtype, " with ", in.ndim, " axes");
  codecs::check_audio_request(sound_request(call.args));
  for (Meta& out : call.out) out.layout = {};
  call.out[0].dtype = DType::uint8;
  call.out[0].ndim = 4;
  call.out[0].layout = Layout("FHWC");
  call.out[1].dtype = call.out[2].dtype = DType::float32;
  call.out[1].ndim = call.args.downmix ? 1 : 2;
  call.out[2].ndim = 0;
}

// Files stay open from finding their shapes to decoding them, with what was decoded of their sound, but not too many.
constexpr int kMostOpen = 128;

// The frames of a part of a film, and the sound of the same seconds.
class MediaPlan {
 public:
  static constexpr bool takes_long = true;

  explicit MediaPlan(const Sample<MediaArgs>& sample)
      : video_request_{.upright = sample.args.adjust_orientation}, sound_request_(sound_request(sample.args)) {
    open(sample);
    shape_ = frames_shape();
    sound_shape_ = sound_shape();
    if (sample.index >= kMostOpen) close();
  }
  void shape(Sample<MediaArgs>& sample) const {
    sample.out[0].shape = shape_;
    sample.out[1].shape = sound_shape_;
    sample.out[2].shape = {};
  }
  void run(const Sample<MediaArgs>& sample) const {
    if (!video_) open(sample);
    if (frames_shape() != shape_ || sound_shape() != sound_shape_) refuse(codecs::kChangedText);
    constexpr uint8_t black[3] = {};
    codecs::decode_frames(*video_, frames_, video_request_, black, sample.out[0].data);
    codecs::decode_audio(*sound_, sound_request_, all(), sample.out[1].data);
    const double rate = sound_request_.sample_rate > 0 ? sound_request_.sample_rate : sound_->info().rate;
    *sample.out[2].as<float>() = static_cast<float>(rate);
    close();
  }

 private:
  void open(const Sample<MediaArgs>& sample) const {
    const codecs::Bytes bytes = encoded_bytes(sample.in[0]);
    video_ = std::make_unique<codecs::VideoFile>(bytes);
    const codecs::VideoIndex& index = video_->index();
    const ClipFrames choice = frames_asked(sample.args);
    frames_ = frames_of(choice, index, "decoders.media", sample.index);
    codecs::check_memory(checked_volume(frames_shape()));
    const Seconds seconds = seconds_of(choice, index);
    sound_ = codecs::sound_between(std::make_shared<storage::BytesObject>(bytes), -1, index.begin() + seconds.from,
                                   index.begin() + seconds.to);
  }
  void close() const {
    video_.reset();
    sound_.reset();
  }
  Shape frames_shape() const {
    const auto [height, width] = video_->extents(video_request_);
    return {std::ssize(frames_), height, width, 3};
  }
  Shape sound_shape() const { return codecs::audio_shape(sound_->info(), sound_request_, all()); }
  codecs::AudioSegment all() const { return {0, sound_->info().frames}; }

  const codecs::VideoRequest video_request_;
  const codecs::AudioRequest sound_request_;
  Shape shape_, sound_shape_;
  mutable std::vector<int64_t> frames_;
  mutable std::unique_ptr<codecs::VideoFile> video_;
  mutable std::unique_ptr<codecs::Sound> sound_;
};

}  // namespace

AVIDA_OP_IN(decoders, media, MediaArgs) {
  using Args = MediaArgs;
  op.doc(
        "Decodes films with their sound. Returns the frames as RGB with the layout FHWC, the samples of the same "
        "seconds, of shape (frames, channels), and the sample rate in Hz. Where the sound begins later or ends earlier "
        "than the frames, there is silence.")
      .input("encoded", "The bytes of video files that have a sound track: MP4, MOV, MKV, WebM, AVI, TS and others.")
      .outputs(3)
      .arg("adjust_orientation", &Args::adjust_orientation, "Turn and mirror frames as the file says.", fixed)
      .arg("downmix", &Args::downmix, "Whether to return the mean of the channels, without an axis for them.", fixed)
      .arg("end", &Args::end, "The time in seconds at which to stop. Default: the end of the last frame.")
      .arg("fps", &Args::fps,
           "Frames per second: those that are shown at the start and every 1 / fps seconds after it.")
      .arg("num_frames", &Args::num_frames,
           "So many frames: the first and the last one of the part, and those at equal distances between them, rounded "
           "to the nearest.")
      .arg("on_error", &Args::on_error,
           "What to do with a file that cannot be decoded: \"raise\", or \"placeholder\", which returns empty samples; "
           "`batch.errors` has the reason, and `avida.drop_failed` removes the sample.")
      .arg("quality", &Args::quality,
           "The quality of resampling: 0 uses 3 lobes of the sinc filter on each side, 50 uses 16, 100 uses 64.", fixed)
      .arg("sample_rate", &Args::sample_rate, "The sample rate in Hz to resample to; 0 keeps that of the file.")
      .arg(
          "start", &Args::start,
          "The time in seconds after the first frame at which to start: with the frame that is shown then. Default: 0.")
      .arg("stride", &Args::stride, "The distance between frames. Default: 1.")
      .example("avida.decoders.media(np.frombuffer(b\"no film\", np.uint8), on_error=\"placeholder\")[1].shape")
      .takes_files()
      .raises(kRaises)
      .infer(infer)
      .on_cpu()
      .each_sample<MediaPlan>()
      .replace([](Sample<Args>& sample) {
        if (sample.args.on_error != OnError::placeholder) return false;
        sample.out[0].shape = {0, 1, 1, 3};
        sample.out[1].shape = sample.args.downmix ? Shape{0} : Shape{0, 1};
        sample.out[2].shape = {};
        return true;
      })
      .largest_first()
      .cost(kDecodeCost);
}

}  // namespace avida::ops
