#include "codecs/video/gpu_video.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "gpu/engines/nvdec.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/pixdesc.h>
}

namespace avida::codecs {
namespace {

ConvertPictures convert_pictures = nullptr;

// Pictures that wait until one launch converts them. Those that were uploaded hold their memory until then.
class WaitingPictures {
 public:
  WaitingPictures(const GpuPixels& to, const GpuStream& stream) : to_(to), stream_(stream) {}

  void add(const PicturePlanes& planes, void* pixels) { pictures_.push_back({planes, pixels}); }
  void upload(Gpu& gpu, const PicturePlanes& planes, void* pixels);
  void convert() {
    if (!pictures_.empty()) convert_pictures(pictures_, to_, stream_);
    pictures_.clear();
    uploaded_.clear();
    bytes_ = 0;
  }

 private:
  const GpuPixels to_;
  const GpuStream& stream_;
  std::vector<GpuPicture> pictures_;
  std::vector<Block> uploaded_;
  int64_t bytes_ = 0;  // of what was uploaded
};

void fill_frame(Gpu& gpu, const GpuFrames& to, int64_t pixels, void* out) {
  const auto fill = [&](auto* frame, float scale) {
    for (int64_t i = 0; i < 3 * pixels; i++)
      frame[i] = static_cast<std::remove_pointer_t<decltype(frame)>>(static_cast<float>(to.fill[i % 3]) * scale);
  };
  std::vector<char> frame(static_cast<size_t>(3 * pixels * size_of(to.dtype)));
  if (to.dtype == DType::uint8)
    fill(reinterpret_cast<uint8_t*>(frame.data()), 1);
  else
    fill(reinterpret_cast<float*>(frame.data()), to.scale);
  gpu.copy_in(out, frame.data(), frame.size(), to.stream.handle);
}

// A picture of the CPU. Its memory is new, and the stream reuses it once it is converted.
void WaitingPictures::upload(Gpu& gpu, const PicturePlanes& picture, void* pixels) {
  constexpr int64_t kMostBytes = 64 << 20;
  PicturePlanes planes = picture;
  const int count = picture.chroma_width ? 3 : 1;
  const int64_t sample = picture.bits > 8 ? 2 : 1;
  std::vector<uint8_t> tight;
  int64_t begins[3] = {};
  for (int k = 0; k < count; k++) {
    const int64_t rows = k ? picture.chroma_height : picture.height;
    const int64_t bytes = sample * (k ? picture.chroma_width : picture.width);
    begins[k] = static_cast<int64_t>(tight.size());
    tight.resize(tight.size() + static_cast<size_t>((rows * bytes + 15) / 16 * 16));
    for (int64_t y = 0; y < rows; y++)
      std::memcpy(tight.data() + begins[k] + y * bytes, picture.planes[k] + y * picture.strides[k], bytes);
    planes.strides[k] = bytes;
  }
  const auto size = static_cast<int64_t>(tight.size());
  if (bytes_ + size > kMostBytes) convert();
  bytes_ += size;
  const Block& block = uploaded_.emplace_back(gpu.allocate(size, stream_.handle));
  gpu.copy_in(block.get(), tight.data(), tight.size(), stream_.handle);
  for (int k = 0; k < count; k++) planes.planes[k] = static_cast<const uint8_t*>(block.get()) + begins[k];
  add(planes, pixels);
}

NvdecCodec nvdec_codec(AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_H264:
      return NvdecCodec::h264;
    case AV_CODEC_ID_HEVC:
      return NvdecCodec::hevc;
    case AV_CODEC_ID_VP8:
      return NvdecCodec::vp8;
    case AV_CODEC_ID_VP9:
      return NvdecCodec::vp9;
    case AV_CODEC_ID_AV1:
      return NvdecCodec::av1;
    default:
      throw NvdecRefused(str("the video engine does not decode ", avcodec_get_name(codec)));
  }
}

// Packets as the engine wants them: H.264 and HEVC with start codes, not with lengths as in MP4 files.
class PacketFilter {
 public:
  explicit PacketFilter(const AVStream& stream) {
    const AVCodecParameters& parameters = *stream.codecpar;
    const bool is_h264 = parameters.codec_id == AV_CODEC_ID_H264;
    if (!is_h264 && parameters.codec_id != AV_CODEC_ID_HEVC) {
      read_header(parameters);
      return;
    }
    const char* name = is_h264 ? "h264_mp4toannexb" : "hevc_mp4toannexb";
    const AVBitStreamFilter* filter = av_bsf_get_by_name(name);
    packet_ = av_packet_alloc();
    if (packet_ && filter && av_bsf_alloc(filter, &filter_) >= 0 &&
        avcodec_parameters_copy(filter_->par_in, &parameters) >= 0) {
      filter_->time_base_in = stream.time_base;
      if (av_bsf_init(filter_) >= 0) {
        read_header(*filter_->par_out);
        return;
      }
    }
    close();
    throw NvdecRefused(str("FFmpeg has no filter ", name));
  }
  ~PacketFilter() { close(); }
  PacketFilter(const PacketFilter&) = delete;

  // The parameter sets of the file.
  const std::vector<uint8_t>& header() const { return header_; }

  void restart() {
    if (filter_) av_bsf_flush(filter_);
  }

  // Calls use(bytes) for what a packet becomes.
  template <class Use>
  void pass(const AVPacket& packet, const Use& use) {
    if (!filter_) return use(bytes_of(packet));
    if (av_packet_ref(packet_, &packet) < 0 || av_bsf_send_packet(filter_, packet_) < 0) {
      av_packet_unref(packet_);
      throw NvdecRefused("a packet is damaged");
    }
    int code;
    while ((code = av_bsf_receive_packet(filter_, packet_)) >= 0) {
      const Unref after{packet_};
      use(bytes_of(*packet_));
    }
    if (code != AVERROR(EAGAIN)) throw NvdecRefused("a packet is damaged");
  }

 private:
  struct Unref {
    AVPacket* packet;
    ~Unref() { av_packet_unref(packet); }
  };
  void read_header(const AVCodecParameters& made) {
    if (made.codec_id == AV_CODEC_ID_VP8 || made.codec_id == AV_CODEC_ID_VP9 || !made.extradata) return;
    header_.assign(made.extradata, made.extradata + made.extradata_size);
    // AV1: what precedes is the box of an MP4 or MKV file.
    if (made.codec_id == AV_CODEC_ID_AV1 && header_.size() > 4 && header_[0] & 0x80)
      header_.erase(header_.begin(), header_.begin() + 4);
  }
  static std::span<const uint8_t> bytes_of(const AVPacket& packet) {
    return {packet.data, static_cast<size_t>(packet.size)};
  }
  void close() {
    av_packet_free(&packet_);
    av_bsf_free(&filter_);
  }

  std::vector<uint8_t> header_;
  AVBSFContext* filter_ = nullptr;  // none for other codecs
  AVPacket* packet_ = nullptr;
};

}  // namespace

bool set_picture_conversion(ConvertPictures convert) {
  convert_pictures = convert;
  return true;
}

// The engine with the demuxer that feeds it.
class GpuVideo::Engine {
 public:
  Engine(VideoFile& file, Gpu& gpu)
      : file_(file),
        codec_(nvdec_codec(file.stream().stream().codecpar->codec_id)),
        filter_(file.stream().stream()),
        nvdec_(gpu, {codec_, file.index().height, file.index().width, filter_.header()}) {
    if (!file.index().has_times) throw NvdecRefused("its packets have no times");
    if (file.stream().stream().codecpar->format < 0) throw NvdecRefused("its pixel format is not known");
  }

  int64_t position() const { return position_; }
  const GpuStream& stream() const { return nvdec_.stream(); }

  // As VideoFile::decode, with pictures in memory of the GPU, which the work that read() queues in stream() reads.
  void decode(std::span<const int64_t> frames, const VideoRequest& request, const VideoFile::Show& show,
              const std::function<void()>& read, NextFrames next) {
    MediaStream& packets = file_.lend_stream();
    const AVCodecParameters& parameters = *packets.stream().codecpar;
    const PicturePlanes planes = describe_planes(parameters.format, file_.index().height, file_.index().width,
                                                 parameters.color_range, parameters.color_space, request);
    size_t shown = 0, sent = 0;
    const Nvdec::Viewer viewer{[&](int64_t frame) { return shown < frames.size() && frames[shown] == frame; },
                               [&](const NvdecPicture& picture) { show(shown++, planes_of(picture, planes)); }, read};
    // If the next call probably goes on after this one, the pictures that the parser still holds stay there. Otherwise
    // the parser is flushed, so that no packets after the last wanted frame are decoded. Calls that began at the start
    // of the file, or where the last one ended, are taken for a sequence.
    bool continues = next != NextFrames::none;
    while (shown < frames.size()) {
      const int64_t frame = frames[shown];
      if (!is_on_the_way_to(frame)) {
        const int64_t key = start(packets, frame);
        continues = next == NextFrames::follow || (next == NextFrames::unknown && key == 0);
        sent = shown;
      }
      const AVPacket* packet = packets.next();
      if (!packet || (sent == frames.size() && !continues)) {
        nvdec_.flush(viewer);
        position_ = -1;
        if (shown < frames.size() && frames[shown] == frame) throw NvdecRefused(str("frame ", frame, " did not come"));
        continue;
      }
      const bool is_shown = !(packet->flags & AV_PKT_FLAG_DISCARD);
      const int64_t number = is_shown ? file_.index().find(packet->pts) : -1;
      const bool is_wanted = std::binary_search(frames.begin(), frames.end(), number);
      sent += is_wanted;
      filter_.pass(*packet, [&](std::span<const uint8_t> bytes) {
        nvdec_.send(bytes, number, is_wanted || number > frames.back(), viewer);
      });
      if (nvdec_.last_due() >= 0) position_ = std::max(position_, nvdec_.last_due() + 1);
      if (shown < frames.size() && position_ > frames[shown])
        throw NvdecRefused(str("frame ", frames[shown], " did not come"));
    }
    nvdec_.finish(viewer);
  }

 private:
  bool is_on_the_way_to(int64_t frame) const {
    const int64_t key = file_.index().key_before(frame);
    return position_ >= 0 && position_ <= frame && (key < 0 || file_.index().keys[key].frame <= position_);
  }

  // Seeks to the last keyframe before a frame, and returns its number.
  int64_t start(MediaStream& packets, int64_t frame) {
    const int64_t key = file_.index().key_before(frame);
    position_ = key < 0 ? 0 : file_.index().keys[key].frame;
    if (key < 0)
      packets.rewind();
    else
      packets.seek(file_.index().keys[key]);
    filter_.restart();
    nvdec_.restart();
    return position_;
  }

  static PicturePlanes planes_of(const NvdecPicture& picture, PicturePlanes planes) {
    const int halves = picture.is_444 ? 1 : 2;
    if (planes.is_rgb || planes.chroma_height != (planes.height + halves - 1) / halves ||
        planes.chroma_width != (planes.width + halves - 1) / halves)
      throw NvdecRefused("the format of the video differs from what its file says");
    for (int k = 0; k < 3; k++) {
      planes.planes[k] = picture.planes[k];
      planes.strides[k] = picture.stride;
    }
    planes.chroma_step = picture.is_444 ? 1 : 2;
    planes.bits = picture.is_wide ? 16 : 8;
    return planes;
  }

  VideoFile& file_;
  const NvdecCodec codec_;
  PacketFilter filter_;
  Nvdec nvdec_;
  int64_t position_ = -1;
};

GpuVideo::GpuVideo(VideoFile& file, std::string name) : file_(file), name_(std::move(name)) {}
GpuVideo::~GpuVideo() = default;

bool GpuVideo::has_engine() const { return engine_ != nullptr; }

void GpuVideo::forget() { kept_.clear(); }

int64_t GpuVideo::position() const { return engine_ ? engine_->position() : file_.position(); }

void GpuVideo::decode(std::span<const int64_t> frames, const VideoRequest& request, const GpuFrames& to,
                      NextFrames next, std::span<const int64_t> keep) {
  Gpu& gpu = Gpu::at(to.stream.device);
  const StreamHandle stream = to.stream.handle;
  const int64_t pixels = int64_t{1} * file_.index().height * file_.index().width;
  const int64_t bytes = 3 * pixels * size_of(to.dtype);
  const auto copy = [&](void* out, const void* from) { gpu.copy(out, from, static_cast<size_t>(bytes), stream); };
  const auto at = [&](size_t i) { return static_cast<char*>(to.out) + static_cast<int64_t>(i) * bytes; };
  const auto is_kept = [&](int64_t frame) { return std::binary_search(keep.begin(), keep.end(), frame); };

  std::map<int64_t, void*> places;  // where frames are written first
  for (size_t i = 0; i < frames.size(); i++) places.try_emplace(frames[i], at(i));
  const std::map<int64_t, Block> before = std::exchange(kept_, {});
  for (auto& [frame, block] : before) {
    if (auto place = places.find(frame); place != places.end()) copy(place->second, block.get());
    if (is_kept(frame)) kept_.emplace(frame, block);
  }
  std::vector<int64_t> missing;
  for (int64_t frame : sorted_frames(frames))
    if (!before.contains(frame)) missing.push_back(frame);
  if (!missing.empty()) {
    // Frames for the next call that come along are converted at once.
    const int64_t last = missing.back();
    for (int64_t frame : keep) {
      if (frame > last || places.contains(frame) || kept_.contains(frame)) continue;
      if (static_cast<int64_t>(kept_.size() + 1) * bytes > kMostKeptBytes) break;
      places[frame] = (kept_[frame] = gpu.allocate(bytes, stream)).get();
      missing.push_back(frame);
    }
    std::sort(missing.begin(), missing.end());
    try {
      decode_missing(missing, request, to, next, places);
    } catch (...) {
      forget();
      throw;
    }
  }
  for (size_t i = 0; i < frames.size(); i++) {
    void* place = places[frames[i]];
    if (place != at(i))
      copy(at(i), place);
    else if (frames[i] < 0)
      fill_frame(gpu, to, pixels, place);
  }
  for (auto [frame, place] : places) {
    if (!is_kept(frame) || kept_.contains(frame)) continue;
    if (static_cast<int64_t>(kept_.size() + 1) * bytes > kMostKeptBytes) break;
    copy((kept_[frame] = gpu.allocate(bytes, stream)).get(), place);
  }
}

void GpuVideo::decode_missing(std::span<const int64_t> frames, const VideoRequest& request, const GpuFrames& to,
                              NextFrames next, const std::map<int64_t, void*>& places) {
  Gpu& gpu = Gpu::at(to.stream.device);
  const GpuPixels pixels{request.type, to.dtype, to.scale};
  if (!refusal_) {
    try {
      if (!engine_) engine_ = std::make_unique<Engine>(file_, gpu);
      gpu.wait(engine_->stream().handle, to.stream.handle);  // the memory may still be in use there
      WaitingPictures pictures(pixels, engine_->stream());
      return engine_->decode(
          frames, request, [&](size_t i, const PicturePlanes& picture) { pictures.add(picture, places.at(frames[i])); },
          [&] { pictures.convert(); }, next);
    } catch (const NvdecRefused& refused) {  // libavcodec decodes the video, or says what is wrong with it
      engine_.reset();                       // waits for its work
      refusal_ = refused.reason;
    } catch (...) {
      engine_.reset();
      throw;
    }
  }
  profile::note_fallback(name_, *refusal_);
  WaitingPictures pictures(pixels, to.stream);
  file_.decode(frames, request,
               [&](size_t i, const PicturePlanes& picture) { pictures.upload(gpu, picture, places.at(frames[i])); });
  pictures.convert();
}

}  // namespace avida::codecs
