#include "codecs/video/video.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "codecs/exif.h"
#include "codecs/limits.h"
#include "codecs/pixels.h"
#include "codecs/video/media_info.h"
#include "codecs/video/wide_planes.h"
#include "core/made_once.h"
#include "runtime/memory.h"
#include "runtime/thread_pool.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
}

namespace avida::codecs {
namespace {

// The videos that share the CPUs, as opposed to those whose users have a thread for each CPU.
std::atomic<int> sharing_videos{0};

int threads_of_each() {
  static constinit MadeOnce<const int> cpus;
  const int here = cpus.get([] { return std::make_unique<const int>(available_cpus()); });
  return std::clamp(here / std::max(1, sharing_videos.load()), 1, 16);
}

struct FreeFrame {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
using Frame = std::unique_ptr<AVFrame, FreeFrame>;

Frame make_frame() {
  Frame frame(av_frame_alloc());
  if (!frame) fail(ErrorKind::memory, "no memory for a frame of a video");
  return frame;
}

ColorMatrix matrix_of(int colorspace) {
  switch (colorspace) {
    case AVCOL_SPC_BT709:
      return ColorMatrix::bt709;
    case AVCOL_SPC_BT2020_NCL:
    case AVCOL_SPC_BT2020_CL:
      return ColorMatrix::bt2020;
    default:
      return ColorMatrix::bt601;
  }
}

bool is_full_range(int format, int color_range) {
  switch (format) {
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ444P:
    case AV_PIX_FMT_YUVJ440P:
    case AV_PIX_FMT_YUVJ411P:
      return true;
    default:
      return color_range == AVCOL_RANGE_JPEG;
  }
}

bool is_supported(const AVPixFmtDescriptor& format) {
  constexpr uint64_t unsupported = AV_PIX_FMT_FLAG_BE | AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM |
                                   AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT;
  if (format.flags & unsupported) return false;
  const int bits = format.comp[0].depth, step = bits > 8 ? 2 : 1;
  const int color = format.nb_components >= 3 ? 3 : 1;
  for (int i = 0; i < color; i++) {
    const AVComponentDescriptor& part = format.comp[i];
    if (part.depth != bits || part.step != step || part.shift != 0 || part.offset != 0) return false;
  }
  return bits >= 8 && bits <= 16;
}

PicturePlanes planes_of(const AVFrame& frame, const VideoRequest& request) {
  PicturePlanes planes =
      describe_planes(frame.format, frame.height, frame.width, frame.color_range, frame.colorspace, request);
  planes.transfer = frame.color_trc == AVCOL_TRC_SMPTE2084      ? Transfer::pq
                    : frame.color_trc == AVCOL_TRC_ARIB_STD_B67 ? Transfer::hlg
                                                                : Transfer::sdr;
  planes.is_bt2020 = frame.color_primaries == AVCOL_PRI_BT2020;
  for (int i = 0; i < 3; i++) {
    planes.planes[i] = frame.data[i];
    planes.strides[i] = frame.linesize[i];
  }
  return planes;
}

}  // namespace

PicturePlanes describe_planes(int number, int height, int width, int color_range, int colorspace,
                              const VideoRequest& request) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(number));
  if (!format || !is_supported(*format))
    refuse("the pixel format ", format ? format->name : "of the video",
           " is not supported: expected planar YUV or RGB");
  PicturePlanes planes{};
  planes.height = height;
  planes.width = width;
  planes.bits = format->comp[0].depth;
  planes.full_range = is_full_range(number, color_range);
  planes.is_rgb = (format->flags & AV_PIX_FMT_FLAG_RGB) != 0;
  planes.matrix = request.file_matrix || request.tone_map ? matrix_of(colorspace) : ColorMatrix::bt601;
  planes.repeats_chroma = request.repeat_chroma && planes.bits == 8 && height % 2 == 0 && width % 2 == 0;
  if (format->nb_components >= 3) {
    planes.chroma_height = -((-height) >> format->log2_chroma_h);
    planes.chroma_width = -((-width) >> format->log2_chroma_w);
  }
  return planes;
}

std::vector<std::pair<std::string, std::string>> video_codecs() {
  constexpr std::pair<AVCodecID, const char*> kCommon[] = {
      {AV_CODEC_ID_H264, "H.264"},        {AV_CODEC_ID_HEVC, "HEVC"},         {AV_CODEC_ID_AV1, "AV1"},
      {AV_CODEC_ID_VP8, "VP8"},           {AV_CODEC_ID_VP9, "VP9"},           {AV_CODEC_ID_MPEG4, "MPEG-4"},
      {AV_CODEC_ID_MPEG2VIDEO, "MPEG-2"}, {AV_CODEC_ID_MPEG1VIDEO, "MPEG-1"}, {AV_CODEC_ID_MJPEG, "MJPEG"},
      {AV_CODEC_ID_THEORA, "Theora"},     {AV_CODEC_ID_VC1, "VC-1"},          {AV_CODEC_ID_WMV3, "WMV"}};
  std::vector<std::pair<std::string, std::string>> found;
  for (const auto& [id, name] : kCommon) {
    const AVCodec* codec = avcodec_find_decoder(id);
    if (!codec) continue;
    const std::string wrapped = codec->wrapper_name ? str(" with ", codec->wrapper_name) : "";
    found.emplace_back(name, str("FFmpeg ", av_version_info(), wrapped));
  }
  return found;
}

class VideoFile::Decoder {
 public:
  Decoder(storage::ObjectPtr file, std::shared_ptr<const VideoIndex> index, StreamChoice choice)
      : stream_(std::move(file), choice) {
    index_ = index ? std::move(index) : make_index();
  }
  ~Decoder() {
    avcodec_free_context(&codec_);
    if (shares_cpus_) sharing_videos--;
  }
  Decoder(const Decoder&) = delete;

  std::shared_ptr<const VideoIndex> index_;

  int64_t position() const { return position_; }
  void forget() {
    kept_.clear();
    if (!std::exchange(has_kept_, false)) return;
    avcodec_free_context(&codec_);  // its pool of frames has grown by those that were kept, and would never shrink
    position_ = -1;
  }
  void share_cpus() {
    shares_cpus_ = true;
    sharing_videos++;
    use_threads(0);
  }
  void use_threads(int count) { threads_ = count; }

  const MediaStream& stream() const { return stream_; }
  MediaStream& lend_stream() {
    position_ = -1;
    return stream_;
  }

  void decode(std::span<const int64_t> frames, const VideoRequest& request, const Show& show,
              std::span<const int64_t> keep) {
    if (!codec_) open_codec(threads_ > 0 ? threads_ : threads_of_each());
    check_frames(frames);
    wanted_ = frames;
    keep_ = keep;
    start_key_ = -1;
    std::erase_if(kept_, [&](auto& each) { return !has(frames, each.first) && !has(keep, each.first); });
    for (size_t i = 0; i < frames.size(); i++) {
      auto known = kept_.extract(frames[i]);
      Frame frame = known ? std::move(known.mapped()) : find(frames[i]);
      if (frame->height != index_->height || frame->width != index_->width)
        refuse("the size of frames changes: frame ", frames[i], " has ", frame->height, " x ", frame->width,
               " pixels, expected ", index_->height, " x ", index_->width);
      show(i, planes_of(*frame, request));
      keep_frame(frames[i], frame);
    }
    wanted_ = keep_ = {};
  }

 private:
  void open_codec(int threads) {
    const AVCodecParameters& parameters = *stream_.stream().codecpar;
    const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
    if (!codec) refuse("this build of avida has no decoder for ", avcodec_get_name(parameters.codec_id));
    codec_ = avcodec_alloc_context3(codec);
    if (!codec_) fail(ErrorKind::memory, "no memory for the decoder of a video");
    int code = avcodec_parameters_to_context(codec_, &parameters);
    codec_->pkt_timebase = stream_.stream().time_base;
    codec_->thread_count = threads;
    codec_->thread_type = FF_THREAD_FRAME;
    codec_->max_pixels = decode_limits().pixels;
    if (code >= 0) code = avcodec_open2(codec_, codec, nullptr);
    if (code >= 0) return;
    avcodec_free_context(&codec_);
    refuse("the decoder of ", codec->name, " cannot be opened: ", ffmpeg_error(code));
  }

  std::shared_ptr<const VideoIndex> make_index() {
    auto index = std::make_shared<VideoIndex>(stream_.read_index());
    if (!index->has_times)
      count_frames(*index);
    else if (index->keys.empty() || index->keys[0].frame > 0)
      drop_undecodable(*index);
    if (index->frames() == 0) refuse("the video has no frames");
    constexpr int64_t kFarthest = int64_t{1} << 61;  // of times whose differences are known
    if (index->times[0] < -kFarthest || index->times.back() > kFarthest)
      refuse("the video is damaged: its frames have times from ", index->times[0], " to ", index->times.back());
    return index;
  }

  // Packets without times do not tell how many frames they hold, nor in which order: all are decoded once.
  void count_frames(VideoIndex& index) {
    index.times.clear();
    index.durations.clear();
    open_codec(1);
    start();
    Frame frame = make_frame();
    while (receive(*frame)) {
      int64_t time = frame->best_effort_timestamp;
      if (!index.times.empty() && (time == AV_NOPTS_VALUE || time <= index.times.back())) time = index.times.back() + 1;
      index.times.push_back(time == AV_NOPTS_VALUE ? 0 : time);
      av_frame_unref(frame.get());
    }
    avcodec_free_context(&codec_);
    position_ = -1;
  }

  // A video that was cut out of another one may begin without a keyframe: its first frames cannot be decoded.
  void drop_undecodable(VideoIndex& index) {
    open_codec(1);
    start();
    Frame frame = make_frame();
    const int64_t first = receive(*frame) ? std::max<int64_t>(0, index.find(time_of(*frame))) : index.frames();
    index.times.erase(index.times.begin(), index.times.begin() + first);
    if (!index.durations.empty()) index.durations.erase(index.durations.begin(), index.durations.begin() + first);
    std::erase_if(index.keys, [first](const VideoIndex::Key& key) { return key.frame < first; });
    for (VideoIndex::Key& key : index.keys) key.frame -= first;
    avcodec_free_context(&codec_);
    position_ = -1;
  }

  static bool has(std::span<const int64_t> frames, int64_t frame) {
    return std::binary_search(frames.begin(), frames.end(), frame);
  }

  // Takes the frame if the next call needs it.
  void keep_frame(int64_t number, Frame& frame) {
    const int64_t bytes = int64_t{3} * frame->height * frame->width;
    if (!has(keep_, number) || (std::ssize(kept_) + 1) * bytes > kMostKeptBytes) return;
    kept_.insert_or_assign(number, std::move(frame));
    has_kept_ = true;
  }

  void check_frames(std::span<const int64_t> frames) const {
    for (int64_t frame : frames)
      if (frame < 0 || frame >= index_->frames())
        fail(ErrorKind::index, "expected a frame from 0 to ", index_->frames() - 1, ", got ", frame);
  }

  void start() {
    stream_.rewind();
    if (codec_) avcodec_flush_buffers(codec_);
    position_ = 0;
    draining_ = false;
  }
  void start(const VideoIndex::Key& key) {
    stream_.seek(key);
    avcodec_flush_buffers(codec_);
    position_ = key.frame;
    draining_ = false;
  }

  // Decodes until the frame comes; from its keyframe, unless the decoder is on the way to it already.
  Frame find(int64_t frame) {
    int64_t key = true_key(index_->key_before(frame));
    if (position_ >= 0 && position_ <= frame && (key < 0 || index_->keys[key].frame <= position_)) {
      if (Frame found = advance(frame)) return found;
    }
    // Where the decoder cannot start at a keyframe, as with intra refresh, an earlier one serves.
    for (; key >= 0; key = true_key(key - 1)) {
      start(index_->keys[key]);
      start_key_ = key;
      Frame found = advance(frame);
      start_key_ = -1;
      if (found) return found;
    }
    start();
    if (Frame found = advance(frame)) return found;
    position_ = -1;
    refuse("frame ", frame, " of ", index_->frames(), " cannot be decoded: the file is damaged");
  }

  // This keyframe or the last one before it that has not turned out to be none.
  int64_t true_key(int64_t key) const {
    while (key >= 0 && false_keys_.contains(key)) key--;
    return key;
  }

  // The frame, or null if the decoder has passed it, or began at a keyframe that is none.
  Frame advance(int64_t frame) {
    Frame decoded = make_frame();
    while (receive(*decoded)) {
      int64_t number = index_->has_times ? index_->find(time_of(*decoded)) : position_;
      if (start_key_ >= 0 && time_of(*decoded) == index_->keys[start_key_].pts && needs_others(*decoded)) {
        false_keys_.insert(start_key_);
        position_ = -1;
        return {};
      }
      if (number >= 0) position_ = number + 1;
      if (number == frame) return decoded;
      keep_frame(number, decoded);
      if (number > frame) return {};
      if (decoded)
        av_frame_unref(decoded.get());
      else
        decoded = make_frame();
    }
    position_ = -1;
    return {};
  }

  // Some containers say that every packet is a keyframe, as AVI does of H.263.
  static bool needs_others(const AVFrame& frame) {
    return !frame.key_frame && (frame.pict_type == AV_PICTURE_TYPE_P || frame.pict_type == AV_PICTURE_TYPE_B);
  }

  static int64_t time_of(const AVFrame& frame) {
    return frame.pts != AV_NOPTS_VALUE ? frame.pts : frame.best_effort_timestamp;
  }

  // The next frame in the order of presentation; false at the end. Damaged packets are passed over.
  bool receive(AVFrame& frame) {
    while (true) {
      const int code = avcodec_receive_frame(codec_, &frame);
      if (code >= 0) return true;
      if (code == AVERROR_EOF || (draining_ && code == AVERROR(EAGAIN))) return false;
      if (code == AVERROR(ENOMEM)) fail(ErrorKind::memory, "the decoder of the video needs too much memory");
      if (draining_) continue;
      const AVPacket* packet = stream_.next();
      if (packet) codec_->skip_frame = is_skipped(*packet) ? AVDISCARD_NONREF : AVDISCARD_DEFAULT;
      avcodec_send_packet(codec_, packet);  // none: the decoder returns the frames that it still holds
      draining_ = !packet;
    }
  }

  // Frames that neither this call nor the next one wants and no other frame needs are not decoded. Those after the last
  // wanted one are: the next call may continue there.
  bool is_skipped(const AVPacket& packet) const {
    if (wanted_.empty() || !index_->has_times) return false;
    const int64_t frame = index_->find(packet.pts);
    return frame < wanted_.back() && !has(wanted_, frame) && !has(keep_, frame);
  }

  MediaStream stream_;
  AVCodecContext* codec_ = nullptr;
  int64_t position_ = -1;   // the number of the next frame that the decoder returns
  int64_t start_key_ = -1;  // the keyframe at which the decoder has just been started
  std::set<int64_t> false_keys_;
  int threads_ = 1;  // 0: a share of the CPUs
  bool draining_ = false, shares_cpus_ = false;
  bool has_kept_ = false;  // since the decoder was opened
  std::span<const int64_t> wanted_, keep_;
  std::map<int64_t, Frame> kept_;
};

VideoFile::VideoFile(storage::ObjectPtr file, std::shared_ptr<const VideoIndex> index, StreamChoice choice)
    : decoder_(std::make_unique<Decoder>(std::move(file), std::move(index), choice)) {}

VideoFile::VideoFile(Bytes file, StreamChoice choice)
    : VideoFile(std::make_shared<storage::BytesObject>(file), nullptr, choice) {
  decoder_->share_cpus();
}

VideoFile::~VideoFile() = default;

void VideoFile::use_threads(int count) { decoder_->use_threads(count); }

const VideoIndex& VideoFile::index() const { return *decoder_->index_; }

std::shared_ptr<const VideoIndex> VideoFile::shared_index() const { return decoder_->index_; }

int64_t VideoFile::position() const { return decoder_->position(); }

void VideoFile::forget() { decoder_->forget(); }

void VideoFile::decode(std::span<const int64_t> frames, const VideoRequest& request, const Show& show,
                       std::span<const int64_t> keep) {
  decoder_->decode(frames, request, show, keep);
}

FrameFilter::Extents VideoFile::extents(const VideoRequest& request) const {
  const FrameFilter::Extents stored{index().height, index().width};
  const bool turns = request.upright && transposes(orientation_of(stream().stream()));
  return turns ? FrameFilter::Extents{stored.width, stored.height} : stored;
}

const MediaStream& VideoFile::stream() const { return decoder_->stream(); }

MediaStream& VideoFile::lend_stream() { return decoder_->lend_stream(); }

std::vector<int64_t> sorted_frames(std::span<const int64_t> frames) {
  std::vector<int64_t> sorted;
  for (int64_t frame : frames)
    if (frame >= 0) sorted.push_back(frame);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

namespace {

// The pixels of one picture, as the request wants them.
void make_pixels(const PicturePlanes& picture, const VideoRequest& request, void* out) {
  if (request.dtype == DType::uint8 && !request.tone_map)
    interleave_planes(picture, request.type, static_cast<uint8_t*>(out));
  else
    interleave_wide(picture, {request.dtype, request.tone_map}, out);
}

// A frame of one colour.
void fill_pixels(int64_t pixels, const uint8_t (&fill)[3], DType dtype, void* out) {
  for (int64_t k = 0; k < 3 * pixels; k++) {
    const uint8_t value = fill[k % 3];
    if (dtype == DType::uint8)
      static_cast<uint8_t*>(out)[k] = value;
    else if (dtype == DType::uint16)
      static_cast<uint16_t*>(out)[k] = static_cast<uint16_t>(value * 257);
    else
      static_cast<float*>(out)[k] = static_cast<float>(value) / 255;
  }
}

// Turns a picture of dense pixels as an orientation says.
void turn_pixels(const uint8_t* from, int orientation, FrameFilter::Extents stored, int64_t pixel_bytes, uint8_t* to) {
  const Orientation turned(orientation, stored.height, stored.width);
  const PixelWalk walk = turned.walk({0, 0, stored.height, stored.width}, stored.width * pixel_bytes, pixel_bytes);
  const bool swaps = transposes(orientation);
  const int rows = swaps ? stored.width : stored.height, columns = swaps ? stored.height : stored.width;
  for (int y = 0; y < rows; y++) {
    const uint8_t* pixel = from + walk.first + y * walk.down;
    for (int x = 0; x < columns; x++, pixel += walk.right, to += pixel_bytes)
      std::memcpy(to, pixel, static_cast<size_t>(pixel_bytes));
  }
}

}  // namespace

void decode_frames(VideoFile& file, std::span<const int64_t> frames, const VideoRequest& request,
                   const uint8_t (&fill)[3], void* out, std::span<const int64_t> keep, const FrameFilter* filter) {
  const FrameFilter::Extents stored{file.index().height, file.index().width};
  const FrameFilter::Extents extents = filter ? filter->extents(stored) : stored;
  const int orientation = request.upright ? orientation_of(file.stream().stream()) : 1;
  const int64_t pixel_bytes = 3 * size_of(request.dtype), bytes = pixel_bytes * extents.height * extents.width,
                stored_pixels = int64_t{1} * stored.height * stored.width;
  const bool changes = filter || orientation != 1;
  const Block whole = changes ? allocate(pixel_bytes * stored_pixels) : nullptr;  // a frame before it is changed
  auto pixels_for = [&](uint8_t* to) { return changes ? static_cast<uint8_t*>(whole.get()) : to; };
  auto finish = [&](uint8_t* to) {
    const auto* pixels = static_cast<const uint8_t*>(whole.get());
    if (filter)
      filter->run(pixels, stored, to);
    else if (changes)
      turn_pixels(pixels, orientation, stored, pixel_bytes, to);
  };
  const auto place = [&](int64_t i) { return static_cast<uint8_t*>(out) + i * bytes; };
  const std::vector<int64_t> sorted = sorted_frames(frames);
  // The first place of each frame; duplicates are copied from there.
  std::map<int64_t, int64_t> first;
  for (size_t i = 0; i < frames.size(); i++) first.emplace(frames[i], static_cast<int64_t>(i));
  file.decode(
      sorted, request,
      [&](size_t i, const PicturePlanes& picture) {
        uint8_t* to = place(first[sorted[i]]);
        make_pixels(picture, request, pixels_for(to));
        finish(to);
      },
      keep);
  for (size_t i = 0; i < frames.size(); i++) {
    uint8_t* to = place(static_cast<int64_t>(i));
    const int64_t from = first[frames[i]];
    if (from != static_cast<int64_t>(i)) {
      std::memcpy(to, place(from), bytes);
    } else if (frames[i] < 0) {
      fill_pixels(stored_pixels, fill, request.dtype, pixels_for(to));
      finish(to);
    }
  }
}

void read_fill_value(std::span<const int> values, uint8_t (&fill)[3]) {
  if (values.size() != 1 && values.size() != 3)
    refuse("expected one value or three, one for each channel, as fill_value, got ", values.size());
  for (int value : values)
    if (value < 0 || value > 255) refuse("expected values from 0 to 255 as fill_value, got ", value);
  for (int c = 0; c < 3; c++) fill[c] = static_cast<uint8_t>(values[values.size() == 1 ? 0 : c]);
}

}  // namespace avida::codecs
