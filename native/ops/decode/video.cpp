#include <algorithm>
#include <memory>
#include <vector>

#include "codecs/video/gpu_video.h"
#include "loops/decoding/decode_videos.h"
#include "operator/declare.h"
#include "ops/decode/decode.h"
#include "ops/decode/video_frames.h"

namespace avida::ops {
namespace {

enum class MatrixChoice { bt601, file };
AVIDA_CHOICES(MatrixChoice, "bt601", "file")

struct VideoArgs : ClipFrames {
  bool adjust_orientation = false, save_times = false, tone_map = false;
  MatrixChoice color_matrix = MatrixChoice::bt601;
  DType dtype = DType::uint8;
  std::vector<int> fill_value = {0};
  OnError on_error = OnError::raise;
  std::optional<int> stream;
};

codecs::VideoRequest request_of(const VideoArgs& args) {
  return {.file_matrix = args.color_matrix == MatrixChoice::file,
          .dtype = args.dtype,
          .tone_map = args.tone_map,
          .upright = args.adjust_orientation};
}

codecs::StreamChoice stream_of(const VideoArgs& args) {
  if (args.stream && *args.stream < 0) refuse("expected a stream of at least 0, got ", *args.stream);
  return {codecs::StreamKind::video, args.stream.value_or(-1)};
}

void infer(Infer<VideoArgs>& call) {
  const Meta& in = call.in[0];
  if (in.dtype != DType::uint8 || in.ndim != 1)
    refuse("expected the bytes of video files (uint8, one axis), got ", in.dtype, " with ", in.ndim, " axes");
  uint8_t fill[3];
  codecs::read_fill_value(call.args.fill_value, fill);
  const DType dtype = call.args.dtype;
  if (dtype != DType::uint8 && dtype != DType::uint16 && dtype != DType::float32)
    refuse("expected uint8, uint16 or float32 as dtype, got ", dtype);
  call.out[0].dtype = dtype;
  call.out[0].ndim = 4;
  call.out[0].layout = Layout("FHWC");
  if (!call.args.save_times) return;
  call.out.resize(2, call.out[0]);
  call.out[1].dtype = DType::float64;
  call.out[1].ndim = 1;
  call.out[1].layout = {};
}

constexpr const char* kName = "decoders.video";

// Videos stay open from finding their shape to decoding them, but not too many.
constexpr int kMostOpen = 128;

class VideoPlan {
 public:
  static constexpr bool takes_long = true;

  explicit VideoPlan(const Sample<VideoArgs>& sample) : request_(request_of(sample.args)) {
    auto video = open(sample);
    frames_ = frames_of(sample.args, video->index(), kName, sample.index);
    if (sample.args.save_times) times_ = times_of(frames_, video->index());
    shape_ = shape_of(*video);
    codecs::check_memory(checked_volume(shape_), size_of(request_.dtype));
    codecs::read_fill_value(sample.args.fill_value, fill_);
    if (sample.index < kMostOpen) video_ = std::move(video);
  }
  void shape(Sample<VideoArgs>& sample) const {
    sample.out[0].shape = shape_;
    if (sample.args.save_times) sample.out[1].shape = {std::ssize(times_)};
  }
  const Shape& frames_shape() const { return shape_; }
  const std::vector<double>& times() const { return times_; }
  void run(const Sample<VideoArgs>& sample) const {
    auto video = take_video(sample);
    codecs::decode_frames(*video, frames_, request_, fill_, sample.out[0].data);
    if (sample.args.save_times) std::ranges::copy(times_, sample.out[1].as<double>());
  }
  void run(const Sample<VideoArgs>& sample, void* out, const GpuStream& stream) const {
    auto video = take_video(sample);
    codecs::GpuVideo(*video, kName)
        .decode(frames_, request_, {out, DType::uint8, 1, fill_, stream}, codecs::NextFrames::none);
  }

 private:
  static std::unique_ptr<codecs::VideoFile> open(const Sample<VideoArgs>& sample) {
    return std::make_unique<codecs::VideoFile>(encoded_bytes(sample.in[0]), stream_of(sample.args));
  }
  std::unique_ptr<codecs::VideoFile> take_video(const Sample<VideoArgs>& sample) const {
    auto video = video_ ? std::move(video_) : open(sample);
    if (shape_of(*video) != shape_) refuse(codecs::kChangedText);
    return video;
  }
  Shape shape_of(const codecs::VideoFile& video) const {
    const auto [height, width] = video.extents(request_);
    return {static_cast<int64_t>(frames_.size()), height, width, 3};
  }

  const codecs::VideoRequest request_;
  std::vector<int64_t> frames_;
  std::vector<double> times_;
  Shape shape_;
  uint8_t fill_[3];
  mutable std::unique_ptr<codecs::VideoFile> video_;  // closed as soon as it is decoded
};

// Nothing where a video may fail and be replaced, or is on a GPU itself: then the CPU decodes.
std::optional<std::vector<Data>> decode_on_gpu(const Run& run, const GpuStream& stream) {
  const char* reason = run.in[0]->device.kind != Device::Kind::cpu ? "its bytes are on a GPU" : nullptr;
  for (int i = 0; i < run.samples; i++) {
    const auto& args = args_of<VideoArgs>(run, i);
    if (args.on_error != OnError::raise) reason = "on_error is not \"raise\"";
    if (!request_of(args).is_plain()) reason = "dtype, tone_map or adjust_orientation is given";
  }
  if (reason) {
    for (int i = 0; i < run.samples; i++) profile::note_fallback(kName, reason);
    return {};
  }
  return decode_videos(run, stream, [&run](int i) -> VideoPart {
    auto in = std::make_shared<SampleView>();
    input_views(run, i, {in.get(), 1});
    const auto sample = [&run, in, i] { return Sample<VideoArgs>({i, run.args.at(i), {in.get(), 1}, {}}); };
    auto plan = std::make_shared<VideoPlan>(sample());
    return {plan->frames_shape(), plan->times(),
            [plan, sample](void* out, const GpuStream& to) { plan->run(sample(), out, to); }};
  });
}

}  // namespace

AVIDA_OP_IN(decoders, video, VideoArgs) {
  op.doc(
        "Decodes video files: H.264, HEVC, VP8, VP9, AV1, MPEG-4, MJPEG and others. Returns all frames, or those that "
        "the arguments choose, as RGB with the layout FHWC. Only what is needed is decoded, from the nearest keyframe. "
        "Seconds count from the first frame; at a time, the last frame is shown that has begun by then.")
      .input("encoded", "The bytes of video files: MP4, MOV, MKV, WebM, AVI, TS and others.")
      .arg("adjust_orientation", &VideoArgs::adjust_orientation,
           "Turn and mirror frames as the file says, as phones note it.", fixed)
      .ignored("affine", true)
      .ignored("build_index", true)
      .arg("color_matrix", &VideoArgs::color_matrix,
           "How YCbCr becomes RGB: \"bt601\", whatever the file says, as DALI does, or \"file\", with the "
           "matrix that the file names: BT.601, BT.709 or BT.2020. Limited and full range are told apart in both.",
           fixed)
      .arg(
          "dtype", &VideoArgs::dtype,
          "The element type: uint8, or uint16 or float32 for what 10 and 12 bits hold. Integers use the whole range of "
          "their type, float32 goes from 0 to 1.")
      .arg("end", &VideoArgs::end, "The time in seconds at which to stop: frames that begin before it are decoded.")
      .arg("end_frame", &VideoArgs::end_frame, "The frame at which to stop; it is not decoded itself.")
      .arg("fill_value", &VideoArgs::fill_value,
           "The colour of padded frames with pad_mode=\"constant\": a number from 0 to 255, or three.", fixed)
      .arg("fps", &VideoArgs::fps,
           "Frames per second: those that are shown at the start and every 1 / fps seconds after it.")
      .arg("frames", &VideoArgs::frames, "The numbers of the frames, in any order; they may repeat.")
      .arg(
          "num_frames", &VideoArgs::num_frames,
          "So many frames: the first and the last one of the range, and those at equal distances between them, rounded "
          "to the nearest.")
      .arg("on_error", &VideoArgs::on_error,
           "What to do with a file that cannot be decoded: \"raise\", or \"placeholder\", which returns a video "
           "without frames; `batch.errors` has the reason, and `avida.drop_failed` removes the sample.")
      .arg("pad_mode", &VideoArgs::pad_mode,
           "What stands for frames beyond the end: \"constant\" (fill_value), \"edge\" or \"repeat\" (the last "
           "frame), \"reflect_1001\" or \"symmetric\", \"reflect_101\" or \"reflect\" (backwards, with and without "
           "the last frame again), or \"none\": the sequence is shorter, and other frames are an error. Default: "
           "\"constant\", with a warning once where there are such frames.")
      .arg("save_times", &VideoArgs::save_times,
           "Whether to return the time of each frame, too, in seconds after the first one; -1 for padded ones.",
           fixed | adds_output)
      .arg("sequence_length", &VideoArgs::sequence_length, "The number of frames to decode.")
      .arg("start", &VideoArgs::start, "The time in seconds at which to start: with the frame that is shown then.")
      .arg("start_frame", &VideoArgs::start_frame, "The first frame to decode. Default: 0.")
      .arg("stride", &VideoArgs::stride, "The distance between frames. Default: 1.")
      .arg("stream", &VideoArgs::stream,
           "The number of the stream to decode, of all streams of the file. Default: the one that FFmpeg takes for the "
           "best.")
      .arg("times", &VideoArgs::times,
           "Times in seconds after the first frame, in any order: each gives the frame that is shown then.")
      .arg("tone_map", &VideoArgs::tone_map,
           "Show videos of high dynamic range (PQ, HLG) as sRGB, and colours of BT.2020 as those of BT.709. The matrix "
           "is the one that the file names then.",
           fixed)
      .example(
          "avida.decoders.video(np.frombuffer(b\"YUV4MPEG2 W4 H2 F25:1%cFRAME%c\" % (10, 10) + bytes(range(16, 28)), "
          "np.uint8), sequence_length=2, pad_mode=\"edge\")")
      .takes_files()
      .raises(kRaises)
      .outputs_from([](const VideoArgs& args) { return args.save_times ? 2 : 1; })
      .infer(infer)
      .on_cpu()
      .each_sample<VideoPlan>()
      .replace([](Sample<VideoArgs>& sample) {
        if (sample.args.on_error != OnError::placeholder) return false;
        sample.out[0].shape = {0, 1, 1, 3};
        if (sample.args.save_times) sample.out[1].shape = {0};
        return true;
      })
      .largest_first()
      .cost(kDecodeCost)
      .gpu_run(decode_on_gpu);
}

}  // namespace avida::ops
