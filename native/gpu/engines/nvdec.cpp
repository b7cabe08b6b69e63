#include "gpu/engines/nvdec.h"

#include <mutex>

#include "core/made_once.h"

namespace avida {
namespace {

struct History {
  std::mutex mutex;
  int64_t frames = 0;
  std::string refusal;
};
History& history_of_process() {
  static constinit MadeOnce<History> history;
  return history.get();
}

}  // namespace

NvdecRefused::NvdecRefused(std::string reason) : reason(std::move(reason)) {
  History& history = history_of_process();
  std::lock_guard lock(history.mutex);
  history.refusal = this->reason;
}

std::pair<int64_t, std::string> Nvdec::history() {
  History& history = history_of_process();
  std::lock_guard lock(history.mutex);
  return {history.frames, history.refusal};
}

}  // namespace avida

#if __has_include(<ffnvcodec/dynlink_nvcuvid.h>)
#include <ffnvcodec/dynlink_cuda.h>
#include <ffnvcodec/dynlink_nvcuvid.h>

#include <map>
#include <optional>
#include <tuple>

#include "gpu/entered.h"
#include "gpu/library.h"

namespace avida {
namespace {

using cuda::Entered;

constexpr int kMapped = 8;      // pictures that are read at the same time
constexpr unsigned kDelay = 4;  // pictures that an engine has in work while earlier ones are shown
constexpr int64_t kMostIdlePixels = 16 * 1280 * 720;  // of decoders that are kept: creating one takes long
constexpr unsigned kMostCropped = 128;                // rows or columns that are decoded and not shown

struct Cuvid {
  tcuvidGetDecoderCaps* caps = nullptr;
  tcuvidCreateDecoder* create = nullptr;
  tcuvidDestroyDecoder* destroy = nullptr;
  tcuvidReconfigureDecoder* reconfigure = nullptr;
  tcuvidDecodePicture* decode = nullptr;
  tcuvidGetDecodeStatus* status = nullptr;
  tcuvidMapVideoFrame64* map = nullptr;
  tcuvidUnmapVideoFrame64* unmap = nullptr;
  tcuvidCreateVideoParser* create_parser = nullptr;
  tcuvidParseVideoData* parse = nullptr;
  tcuvidDestroyVideoParser* destroy_parser = nullptr;
  std::string missing;  // why it cannot be used
};

Cuvid open_cuvid() {
  Cuvid cuvid;
  Library library({"libnvcuvid.so.1", "libnvcuvid.so"});
  if (!library.found()) {
    cuvid.missing = "libnvcuvid.so.1, a part of the NVIDIA driver, was not found";
    return cuvid;
  }
  library.find(cuvid.caps, "cuvidGetDecoderCaps");
  library.find(cuvid.create, "cuvidCreateDecoder");
  library.find(cuvid.destroy, "cuvidDestroyDecoder");
  library.find(cuvid.reconfigure, "cuvidReconfigureDecoder");
  library.find(cuvid.decode, "cuvidDecodePicture");
  library.find(cuvid.status, "cuvidGetDecodeStatus");
  library.find(cuvid.map, "cuvidMapVideoFrame64");
  library.find(cuvid.unmap, "cuvidUnmapVideoFrame64");
  library.find(cuvid.create_parser, "cuvidCreateVideoParser");
  library.find(cuvid.parse, "cuvidParseVideoData");
  library.find(cuvid.destroy_parser, "cuvidDestroyVideoParser");
  if (!library.missing().empty()) cuvid.missing = "libnvcuvid.so.1 has no " + library.missing();
  return cuvid;
}

const Cuvid& cuvid() {
  static constinit MadeOnce<const Cuvid> opened;
  return opened.get([] { return std::make_unique<const Cuvid>(open_cuvid()); });
}

void check(CUresult result, const char* doing) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuda::driver().error_text(result, &text);
  throw NvdecRefused(str(doing, " failed: ", text ? text : "unknown error"));
}

cudaVideoCodec number_of(NvdecCodec codec) {
  switch (codec) {
    case NvdecCodec::h264:
      return cudaVideoCodec_H264;
    case NvdecCodec::hevc:
      return cudaVideoCodec_HEVC;
    case NvdecCodec::vp8:
      return cudaVideoCodec_VP8;
    case NvdecCodec::vp9:
      return cudaVideoCodec_VP9;
    case NvdecCodec::av1:
      break;
  }
  return cudaVideoCodec_AV1;
}

// What a decoder is made for.
struct Kind {
  cudaVideoCodec codec;
  cudaVideoChromaFormat chroma;
  unsigned bits;
  bool operator==(const Kind&) const = default;
};

struct Decoder {
  CUvideodecoder handle;
  Kind kind;
  unsigned surfaces, width, height;
  unsigned most_width, most_height;  // that it can be changed to

  int64_t pixels() const { return int64_t{most_width} * most_height; }
};

// What is known of one GPU: its abilities, and decoders that nobody uses.
class Decoders {
 public:
  static Decoders& of(int device) {
    static constinit std::mutex mutex;
    static constinit MadeOnce<std::map<int, Decoders>> all;
    std::lock_guard lock(mutex);
    return all.get()[device];
  }

  // Asking takes 10 ms, one thread at a time.
  CUVIDDECODECAPS caps(const Kind& kind) {
    std::lock_guard lock(mutex_);
    auto [known, is_new] = caps_.try_emplace({kind.codec, kind.chroma, kind.bits});
    CUVIDDECODECAPS& caps = known->second;
    if (!is_new) return caps;
    caps.eCodecType = kind.codec;
    caps.eChromaFormat = kind.chroma;
    caps.nBitDepthMinus8 = kind.bits - 8;
    if (CUresult result = cuvid().caps(&caps)) {
      caps_.erase(known);
      check(result, "asking for the abilities of the video engine");
    }
    return caps;
  }

  // One that has this size, or can be changed to it.
  std::optional<Decoder> take(const Kind& kind, unsigned width, unsigned height, unsigned surfaces) {
    std::lock_guard lock(mutex_);
    auto best = idle_.end();
    for (auto each = idle_.begin(); each != idle_.end(); ++each) {
      if (each->kind != kind || each->most_width < width || each->most_height < height || each->surfaces < surfaces)
        continue;
      best = each;
      if (each->width == width && each->height == height) break;
    }
    if (best == idle_.end()) return {};
    Decoder decoder = *best;
    idle_.erase(best);
    return decoder;
  }
  void give(const Decoder& decoder) {
    std::vector<Decoder> dropped;
    {
      std::lock_guard lock(mutex_);
      idle_.push_back(decoder);
      int64_t pixels = 0;
      for (const Decoder& each : idle_) pixels += each.pixels();
      for (; pixels > kMostIdlePixels; idle_.erase(idle_.begin())) {
        pixels -= idle_.front().pixels();
        dropped.push_back(idle_.front());
      }
    }
    for (const Decoder& each : dropped) cuvid().destroy(each.handle);
  }
  // Frees the memory of all; false if there are none.
  bool drop_all() {
    std::vector<Decoder> dropped;
    {
      std::lock_guard lock(mutex_);
      dropped.swap(idle_);
    }
    for (const Decoder& each : dropped) cuvid().destroy(each.handle);
    return !dropped.empty();
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<int, int, unsigned>, CUVIDDECODECAPS> caps_;
  std::vector<Decoder> idle_;
};

}  // namespace

class Nvdec::Session {
 public:
  Session(Gpu& gpu, Format format) : gpu_(gpu), format_(std::move(format)) {
    if (!gpu.context()) throw NvdecRefused("an emulated GPU has no video engine");
    if (!cuvid().missing.empty()) throw NvdecRefused(cuvid().missing);
    stream_ = gpu.create_stream();
  }
  ~Session() {
    try {
      const Entered here(gpu_.context());
      if (parser_) cuvid().destroy_parser(parser_);
      cuda::driver().stream_synchronize(stream_->handle);
      unmap();
      if (decoder_ && is_broken_)
        cuvid().destroy(decoder_->handle);
      else if (decoder_)
        Decoders::of(gpu_.device).give(*decoder_);
    } catch (const std::exception&) {  // the process is exiting, and the driver is already unloaded
    }
  }
  Session(const Session&) = delete;

  const GpuStream& stream() const { return *stream_; }
  int64_t last_due() const { return last_due_; }

  void restart() {
    const Entered here(gpu_.context());
    if (parser_) cuvid().destroy_parser(parser_);
    parser_ = nullptr;
    last_due_ = -1;
    is_first_ = true;
    CUVIDPARSERPARAMS parameters{};
    parameters.CodecType = number_of(format_.codec);
    parameters.ulMaxNumDecodeSurfaces = 1;  // until on_sequence() tells
    parameters.ulMaxDisplayDelay = kDelay;
    parameters.pUserData = this;
    parameters.pfnSequenceCallback = [](void* self, CUVIDEOFORMAT* format) {
      return static_cast<Session*>(self)->attempt([&](Session& session) { return session.on_sequence(*format); });
    };
    parameters.pfnDecodePicture = [](void* self, CUVIDPICPARAMS* picture) {
      return static_cast<Session*>(self)->attempt([&](Session& session) { return session.on_decode(*picture); });
    };
    parameters.pfnDisplayPicture = [](void* self, CUVIDPARSERDISPINFO* shown) {
      return static_cast<Session*>(self)->attempt([&](Session& session) { return session.on_display(shown); });
    };
    check(cuvid().create_parser(&parser_, &parameters), "creating a parser of video");
    if (!format_.header.empty()) parse(format_.header, {}, 0, {});
  }

  void send(std::span<const uint8_t> packet, int64_t frame, bool needed, const Viewer& viewer) {
    // Packets of other codecs say themselves where they end, and may hold frames that are not shown. What HEVC calls no
    // reference may be one for other layers.
    const bool is_one_picture = format_.codec == NvdecCodec::h264 || format_.codec == NvdecCodec::hevc;
    needed_ = needed || format_.codec != NvdecCodec::h264;
    parse(packet, frame, is_one_picture ? CUVID_PKT_ENDOFPICTURE : 0, viewer);
  }
  void flush(const Viewer& viewer) { parse({}, {}, CUVID_PKT_ENDOFSTREAM, viewer); }

  void finish(const Viewer& viewer) {
    viewer.read();
    const Entered here(gpu_.context());
    check(static_cast<CUresult>(cuda::driver().stream_synchronize(stream_->handle)), "waiting for the GPU");
    unmap();
  }

 private:
  // Exceptions do not pass through the library.
  template <class Function>
  int attempt(const Function& function) noexcept {
    try {
      if (!error_) return function(*this);
    } catch (...) {
      error_ = std::current_exception();
      is_broken_ = true;
    }
    return 0;
  }

  void parse(std::span<const uint8_t> bytes, std::optional<int64_t> frame, unsigned long flags, const Viewer& viewer) {
    const Entered here(gpu_.context());
    viewer_ = &viewer;
    CUVIDSOURCEDATAPACKET packet{};
    packet.flags = flags;
    if (frame) packet.flags |= CUVID_PKT_TIMESTAMP;
    packet.payload = bytes.data();
    packet.payload_size = bytes.size();
    packet.timestamp = frame.value_or(0);
    const CUresult result = cuvid().parse(parser_, &packet);
    viewer_ = nullptr;
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    check(result, "parsing a packet of the video");
  }

  // Returns the number of pictures that the parser may use; 0: failed.
  int on_sequence(const CUVIDEOFORMAT& format) {
    const Kind kind{format.codec, format.chroma_format, format.bit_depth_luma_minus8 + 8u};
    const unsigned surfaces = format.min_num_decode_surfaces + kDelay;
    check_format(format, kind);
    if (decoder_) {
      if (decoder_->kind != kind || decoder_->width != format.coded_width || decoder_->height != format.coded_height ||
          decoder_->surfaces < surfaces || left_ != format.display_area.left || top_ != format.display_area.top)
        throw NvdecRefused("the format of the video changes");
      return static_cast<int>(decoder_->surfaces);
    }
    left_ = format.display_area.left;
    top_ = format.display_area.top;
    decoder_ = Decoders::of(gpu_.device).take(kind, format.coded_width, format.coded_height, surfaces);
    if (!decoder_)
      decoder_ = create(kind, format.coded_width, format.coded_height, surfaces);
    else if (decoder_->width != format.coded_width || decoder_->height != format.coded_height)
      change(*decoder_, format.coded_width, format.coded_height);
    return static_cast<int>(decoder_->surfaces);
  }

  void check_format(const CUVIDEOFORMAT& format, const Kind& kind) const {
    const auto& shown = format.display_area;
    if (shown.right - shown.left != format_.width || shown.bottom - shown.top != format_.height)
      throw NvdecRefused("the size of the video differs from what its file says");
    if (format.coded_width > static_cast<unsigned>(format_.width) + kMostCropped ||
        format.coded_height > static_cast<unsigned>(format_.height) + kMostCropped)
      throw NvdecRefused("most of what would be decoded is not shown");
    if (format.bit_depth_chroma_minus8 != format.bit_depth_luma_minus8)
      throw NvdecRefused("luma and chroma differ in their bits");
    if (kind.chroma != cudaVideoChromaFormat_420 && kind.chroma != cudaVideoChromaFormat_444)
      throw NvdecRefused("its chroma is neither 4:2:0 nor 4:4:4");
    if (format.coded_width % 2 || format.coded_height % 2 || shown.left % 2 || shown.top % 2)
      throw NvdecRefused("its size is odd");
    const CUVIDDECODECAPS caps = Decoders::of(gpu_.device).caps(kind);
    const unsigned macroblocks = format.coded_width / 16 * (format.coded_height / 16);
    if (!caps.bIsSupported || !(caps.nOutputFormatMask >> surface_format(kind) & 1))
      throw NvdecRefused("the video engine does not know its codec");
    if (format.coded_width < caps.nMinWidth || format.coded_height < caps.nMinHeight ||
        format.coded_width > caps.nMaxWidth || format.coded_height > caps.nMaxHeight || macroblocks > caps.nMaxMBCount)
      throw NvdecRefused("the video engine does not take its size");
  }

  static cudaVideoSurfaceFormat surface_format(const Kind& kind) {
    if (kind.chroma == cudaVideoChromaFormat_420)
      return kind.bits > 8 ? cudaVideoSurfaceFormat_P016 : cudaVideoSurfaceFormat_NV12;
    return kind.bits > 8 ? cudaVideoSurfaceFormat_YUV444_16Bit : cudaVideoSurfaceFormat_YUV444;
  }

  // Pictures are not cropped, since the library scales what has another size.
  Decoder create(const Kind& kind, unsigned width, unsigned height, unsigned surfaces) const {
    CUVIDDECODECREATEINFO info{};
    info.ulWidth = info.ulMaxWidth = info.ulTargetWidth = width;
    info.ulHeight = info.ulMaxHeight = info.ulTargetHeight = height;
    info.ulNumDecodeSurfaces = surfaces;
    info.CodecType = kind.codec;
    info.ChromaFormat = kind.chroma;
    info.bitDepthMinus8 = kind.bits - 8;
    info.ulCreationFlags = cudaVideoCreate_PreferCUVID;
    info.display_area.right = static_cast<short>(width);
    info.display_area.bottom = static_cast<short>(height);
    info.OutputFormat = surface_format(kind);
    info.DeinterlaceMode = cudaVideoDeinterlaceMode_Weave;
    info.ulNumOutputSurfaces = kMapped;
    Decoder decoder{nullptr, kind, surfaces, width, height, width, height};
    CUresult result = cuvid().create(&decoder.handle, &info);
    if (result && Decoders::of(gpu_.device).drop_all()) result = cuvid().create(&decoder.handle, &info);
    check(result, "creating a decoder of video");
    return decoder;
  }

  static void change(Decoder& decoder, unsigned width, unsigned height) {
    CUVIDRECONFIGUREDECODERINFO info{};
    info.ulWidth = info.ulTargetWidth = width;
    info.ulHeight = info.ulTargetHeight = height;
    info.ulNumDecodeSurfaces = decoder.surfaces;
    info.display_area.right = static_cast<short>(width);
    info.display_area.bottom = static_cast<short>(height);
    check(cuvid().reconfigure(decoder.handle, &info), "changing the size of a decoder of video");
    decoder.width = width;
    decoder.height = height;
  }

  int on_decode(CUVIDPICPARAMS& picture) {
    if (!decoder_) throw NvdecRefused("the video has no parameter sets");
    if (std::exchange(is_first_, false) && format_.codec <= NvdecCodec::hevc && !picture.intra_pic_flag)
      throw NvdecRefused("the file calls a frame a keyframe that is none");
    if (!needed_ && !picture.ref_pic_flag) return 1;
    check(cuvid().decode(decoder_->handle, &picture), "decoding a picture");
    return 1;
  }

  int on_display(const CUVIDPARSERDISPINFO* shown) {
    if (!shown) return 1;
    last_due_ = shown->timestamp;
    if (!viewer_->wants || !viewer_->wants(last_due_)) return 1;
    if (mapped_.size() == kMapped) finish(*viewer_);
    CUVIDPROCPARAMS parameters{};
    parameters.progressive_frame = shown->progressive_frame;
    parameters.second_field = shown->repeat_first_field + 1;
    parameters.top_field_first = shown->top_field_first;
    parameters.unpaired_field = shown->repeat_first_field < 0;
    parameters.output_stream = static_cast<CUstream>(stream_->handle);
    unsigned long long address = 0;
    unsigned stride = 0;
    check(cuvid().map(decoder_->handle, shown->picture_index, &address, &stride, &parameters), "reading a picture");
    mapped_.push_back(address);
    check_status(shown->picture_index);
    viewer_->show(picture_at(address, stride));
    History& history = history_of_process();
    std::lock_guard lock(history.mutex);
    history.frames++;
    return 1;
  }

  // Only for some codecs the engine tells whether it concealed errors.
  void check_status(int picture) const {
    CUVIDGETDECODESTATUS status{};
    if (cuvid().status(decoder_->handle, picture, &status) != CUDA_SUCCESS) return;
    if (status.decodeStatus == cuvidDecodeStatus_Error || status.decodeStatus == cuvidDecodeStatus_Error_Concealed)
      throw NvdecRefused("the video is damaged");
  }

  NvdecPicture picture_at(unsigned long long address, unsigned stride) const {
    NvdecPicture picture{};
    picture.stride = stride;
    picture.is_444 = decoder_->kind.chroma == cudaVideoChromaFormat_444;
    picture.is_wide = decoder_->kind.bits > 8;
    const int64_t plane = int64_t{stride} * decoder_->height, sample = picture.is_wide ? 2 : 1;
    const auto* first = reinterpret_cast<const uint8_t*>(address);
    picture.planes[0] = first + int64_t{top_} * stride + left_ * sample;
    if (picture.is_444) {
      picture.planes[1] = picture.planes[0] + plane;
      picture.planes[2] = picture.planes[1] + plane;
    } else {  // a pair of chroma samples is as wide as two of luma
      picture.planes[1] = first + plane + int64_t{top_ / 2} * stride + left_ * sample;
      picture.planes[2] = picture.planes[1] + sample;
    }
    return picture;
  }

  void unmap() {
    for (unsigned long long address : mapped_) cuvid().unmap(decoder_->handle, address);
    mapped_.clear();
  }

  Gpu& gpu_;
  const Format format_;
  std::shared_ptr<GpuStream> stream_;
  CUvideoparser parser_ = nullptr;
  std::optional<Decoder> decoder_;
  int left_ = 0, top_ = 0;  // of the visible part
  int64_t last_due_ = -1;
  bool needed_ = true, is_first_ = true, is_broken_ = false;
  const Viewer* viewer_ = nullptr;
  std::vector<unsigned long long> mapped_;
  std::exception_ptr error_;
};

#else

namespace avida {

class Nvdec::Session {
 public:
  Session(Gpu&, Format) {
    throw NvdecRefused("this build of avida has no NVDEC: the headers of FFmpeg for it were not found");
  }
  const GpuStream& stream() const { return *stream_; }
  int64_t last_due() const { return -1; }
  void restart() {}
  void send(std::span<const uint8_t>, int64_t, bool, const Viewer&) {}
  void flush(const Viewer&) {}
  void finish(const Viewer&) {}

 private:
  std::shared_ptr<GpuStream> stream_;
};

#endif

Nvdec::Nvdec(Gpu& gpu, Format format) : session_(std::make_unique<Session>(gpu, std::move(format))) {}
Nvdec::~Nvdec() = default;
void Nvdec::restart() { session_->restart(); }
void Nvdec::send(std::span<const uint8_t> packet, int64_t frame, bool needed, const Viewer& viewer) {
  session_->send(packet, frame, needed, viewer);
}
void Nvdec::flush(const Viewer& viewer) { session_->flush(viewer); }
void Nvdec::finish(const Viewer& viewer) { session_->finish(viewer); }
int64_t Nvdec::last_due() const { return session_->last_due(); }
const GpuStream& Nvdec::stream() const { return session_->stream(); }

}  // namespace avida
