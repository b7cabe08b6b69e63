#include <algorithm>
#include <memory>
#include <vector>

#include "codecs/video/gpu_video.h"
#include "device/border.h"
#include "loops/decoding/decode_videos.h"
#include "operator/declare.h"
#include "operator/notices.h"
#include "ops/decode/decode.h"

namespace avida::ops {
namespace {

using codecs::FramePadding;

enum class MatrixChoice { bt601, file };
AVIDA_CHOICES(MatrixChoice, "bt601", "file")

struct VideoArgs {
  MatrixChoice color_matrix = MatrixChoice::bt601;
  std::optional<int> end_frame;
  std::vector<int> fill_value = {0};
  std::optional<std::vector<int>> frames;
  OnError on_error = OnError::raise;
  std::optional<FramePadding> pad_mode;
  std::optional<int> sequence_length, start_frame, stride;
  std::optional<std::vector<double>> times;
};

codecs::VideoRequest request_of(const VideoArgs& args) {
  return {codecs::ImageType::rgb, args.color_matrix == MatrixChoice::file};
}

void check(const VideoArgs& args) {
  const bool has_range = args.start_frame || args.end_frame || args.sequence_length || args.stride;
  if (args.frames.has_value() + args.times.has_value() + has_range > 1)
    refuse("expected one of frames, times, and start_frame with end_frame, sequence_length and stride, got several");
  if (args.sequence_length && args.end_frame) refuse("expected sequence_length or end_frame, got both");
  if (args.stride && *args.stride < 1) refuse("expected a stride of at least 1, got ", *args.stride);
  if (args.sequence_length && *args.sequence_length < 0)
    refuse("expected a sequence_length of at least 0, got ", *args.sequence_length);
}

void infer(Infer<VideoArgs>& call) {
  const Meta& in = call.in[0];
  if (in.dtype != DType::uint8 || in.ndim != 1)
    refuse("expected the bytes of video files (uint8, one axis), got ", in.dtype, " with ", in.ndim, " axes");
  uint8_t fill[3];
  codecs::read_fill_value(call.args.fill_value, fill);
  call.out[0].dtype = DType::uint8;
  call.out[0].ndim = 4;
  call.out[0].layout = Layout("FHWC");
}

// The numbers of the frames as they are asked for, which may lie outside of the video.
std::vector<int64_t> asked_frames(const VideoArgs& args, const codecs::VideoIndex& index) {
  if (args.frames) return {args.frames->begin(), args.frames->end()};
  if (args.times) {
    std::vector<int64_t> frames;
    for (double time : *args.times) frames.push_back(index.shown_at(time));
    return frames;
  }
  const int64_t count = index.frames();
  const int64_t start = args.start_frame.value_or(0), stride = args.stride.value_or(1);
  if (start >= count) refuse("expected a start_frame below ", count, ", the number of frames, got ", start);
  int64_t length;
  if (args.sequence_length) {
    length = *args.sequence_length;
  } else {
    const int64_t end = args.end_frame ? int64_t{*args.end_frame} : count;
    if (end <= start) refuse("expected an end_frame above start_frame, which is ", start, ", got ", end);
    length = (end - start + stride - 1) / stride;
  }
  std::vector<int64_t> frames;
  for (int64_t i = 0; i < length; i++) frames.push_back(start + i * stride);
  return frames;
}

// Black frames that nobody asked for by name are told, by the first call that has any.
void tell_padding(const std::vector<int64_t>& frames, int64_t count, int sample) {
  const auto beyond = std::ranges::find_if(frames, [count](int64_t frame) { return frame < 0 || frame >= count; });
  if (beyond == frames.end()) return;
  post_notice("frames outside of a video",
              str("decoders.video: sample ", sample, " has frames 0 to ", count - 1, ", and frame ", *beyond,
                  " was asked for: frames outside of a video are of the colour fill_value; pad_mode=\"constant\" says "
                  "that this is meant, \"edge\" repeats the last frame, and \"none\" makes it an error"));
}

std::vector<int64_t> frames_of(const VideoArgs& args, const codecs::VideoIndex& index, int sample) {
  check(args);
  const int64_t count = index.frames();
  const FramePadding padding = args.pad_mode.value_or(FramePadding::constant);
  std::vector<int64_t> frames = asked_frames(args, index);
  if (!args.pad_mode) tell_padding(frames, count, sample);
  if (padding == FramePadding::none) {
    for (int64_t frame : frames)
      if (frame < 0 || ((args.frames || args.times) && frame >= count))
        refuse("expected frames from 0 to ", count - 1, " with pad_mode=\"none\", got ", frame);
    std::erase_if(frames, [count](int64_t frame) { return frame >= count; });
    return frames;
  }
  const Border border = padding == FramePadding::constant       ? Border::fill
                        : padding == FramePadding::edge         ? Border::clamp
                        : padding == FramePadding::reflect_1001 ? Border::reflect
                                                                : Border::reflect_101;
  for (int64_t& frame : frames) frame = border_index(border, frame, count);
  return frames;
}

constexpr const char* kName = "decoders.video";

// Videos stay open from finding their shape to decoding them, but not too many.
constexpr int kMostOpen = 128;

class VideoPlan {
 public:
  static constexpr bool takes_long = true;

  explicit VideoPlan(const Sample<VideoArgs>& sample) : request_(request_of(sample.args)) {
    auto video = open(sample);
    frames_ = frames_of(sample.args, video->index(), sample.index);
    shape_ = shape_of(*video);
    codecs::check_memory(checked_volume(shape_));
    codecs::read_fill_value(sample.args.fill_value, fill_);
    if (sample.index < kMostOpen) video_ = std::move(video);
  }
  Shape shape() const { return shape_; }
  void run(const Sample<VideoArgs>& sample) const {
    auto video = take_video(sample);
    codecs::decode_frames(*video, frames_, request_, fill_, sample.out[0].as<uint8_t>());
  }
  void run(const Sample<VideoArgs>& sample, void* out, const GpuStream& stream) const {
    auto video = take_video(sample);
    codecs::GpuVideo(*video, kName)
        .decode(frames_, request_, {out, DType::uint8, 1, fill_, stream}, codecs::NextFrames::none);
  }

 private:
  static std::unique_ptr<codecs::VideoFile> open(const Sample<VideoArgs>& sample) {
    return std::make_unique<codecs::VideoFile>(encoded_bytes(sample.in[0]));
  }
  std::unique_ptr<codecs::VideoFile> take_video(const Sample<VideoArgs>& sample) const {
    auto video = video_ ? std::move(video_) : open(sample);
    if (shape_of(*video) != shape_) refuse(codecs::kChangedText);
    return video;
  }
  Shape shape_of(const codecs::VideoFile& video) const {
    const codecs::VideoIndex& index = video.index();
    return {static_cast<int64_t>(frames_.size()), index.height, index.width, 3};
  }

  const codecs::VideoRequest request_;
  std::vector<int64_t> frames_;
  Shape shape_;
  uint8_t fill_[3];
  mutable std::unique_ptr<codecs::VideoFile> video_;  // closed as soon as it is decoded
};

// Nothing where a video may fail and be replaced, or is on a GPU itself: then the CPU decodes.
std::optional<std::vector<Data>> decode_on_gpu(const Run& run, const GpuStream& stream) {
  const char* reason = run.in[0]->device.kind != Device::Kind::cpu ? "its bytes are on a GPU" : nullptr;
  for (int i = 0; i < run.samples; i++)
    if (args_of<VideoArgs>(run, i).on_error != OnError::raise) reason = "on_error is not \"raise\"";
  if (reason) {
    for (int i = 0; i < run.samples; i++) profile::note_fallback(kName, reason);
    return {};
  }
  return decode_videos(run, stream, [&run](int i) -> VideoPart {
    auto in = std::make_shared<SampleView>();
    input_views(run, i, {in.get(), 1});
    const auto sample = [&run, in, i] { return Sample<VideoArgs>({i, run.args.at(i), {in.get(), 1}, {}}); };
    auto plan = std::make_shared<VideoPlan>(sample());
    return {plan->shape(), [plan, sample](void* out, const GpuStream& to) { plan->run(sample(), out, to); }};
  });
}

}  // namespace

AVIDA_OP_IN(decoders, video, VideoArgs) {
  op.doc(
        "Decodes video files: H.264, HEVC, VP8, VP9, AV1, MPEG-4, MJPEG and others. Returns all frames, or those that "
        "the arguments choose, as RGB with the layout FHWC. Only what is needed is decoded, from the nearest keyframe.")
      .input("encoded", "The bytes of video files: MP4, MOV, MKV, WebM, AVI, TS and others.")
      .ignored("affine", true)
      .ignored("build_index", true)
      .arg("color_matrix", &VideoArgs::color_matrix,
           "How YCbCr becomes RGB: \"bt601\", whatever the file says, as DALI does, or \"file\", with the "
           "matrix that the file names: BT.601, BT.709 or BT.2020. Limited and full range are told apart in both.",
           fixed)
      .arg("end_frame", &VideoArgs::end_frame, "The frame at which to stop; it is not decoded itself.")
      .arg("fill_value", &VideoArgs::fill_value,
           "The colour of padded frames with pad_mode=\"constant\": a number from 0 to 255, or three.", fixed)
      .arg("frames", &VideoArgs::frames, "The numbers of the frames, in any order; they may repeat.")
      .arg("on_error", &VideoArgs::on_error,
           "What to do with a file that cannot be decoded: \"raise\", or \"placeholder\", which returns a video "
           "without frames; `batch.errors` has the reason, and `avida.drop_failed` removes the sample.")
      .arg("pad_mode", &VideoArgs::pad_mode,
           "What stands for frames beyond the end: \"constant\" (fill_value), \"edge\" or \"repeat\" (the last "
           "frame), \"reflect_1001\" or \"symmetric\", \"reflect_101\" or \"reflect\" (backwards, with and without "
           "the last frame again), or \"none\": the sequence is shorter, and other frames are an error. Default: "
           "\"constant\", with a warning once where there are such frames.")
      .arg("sequence_length", &VideoArgs::sequence_length, "The number of frames to decode.")
      .arg("start_frame", &VideoArgs::start_frame, "The first frame to decode. Default: 0.")
      .arg("stride", &VideoArgs::stride, "The distance between frames. Default: 1.")
      .arg("times", &VideoArgs::times,
           "Times in seconds after the first frame, in any order: each gives the frame that is shown then.")
      .example(
          "avida.decoders.video(np.frombuffer(b\"YUV4MPEG2 W4 H2 F25:1%cFRAME%c\" % (10, 10) + bytes(range(16, 28)), "
          "np.uint8), sequence_length=2, pad_mode=\"edge\")")
      .takes_files()
      .raises(kRaises)
      .infer(infer)
      .on_cpu()
      .each_sample<VideoPlan>()
      .replace([](Sample<VideoArgs>& sample) {
        if (sample.args.on_error != OnError::placeholder) return false;
        sample.out[0].shape = {0, 1, 1, 3};
        return true;
      })
      .largest_first()
      .cost(kDecodeCost)
      .gpu_run(decode_on_gpu);
}

}  // namespace avida::ops
