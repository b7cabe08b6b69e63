// VideoFile: decodes chosen frames of a video with libavcodec: H.264, HEVC, VP8, VP9, AV1, MPEG-4, MJPEG and others.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "arguments/choices.h"
#include "codecs/video/media_stream.h"
#include "codecs/video/planes.h"
#include "codecs/video/video_index.h"

namespace avida::codecs {

// Frames that a decoder keeps for the next call use at most this much memory.
constexpr int64_t kMostKeptBytes = int64_t{256} << 20;

struct VideoRequest {
  ImageType type = ImageType::rgb;  // or ycbcr
  bool file_matrix = false;         // use the colour matrix that the file names; otherwise BT.601
  DType dtype = DType::uint8;       // or uint16 with its whole range, or float32 from 0 to 1
  bool tone_map = false;            // high dynamic range to sRGB; uses the matrix that the file names
  bool repeat_chroma = false;       // as libswscale does for even sizes and 8 bits; otherwise chroma is interpolated
  bool upright = false;             // turn frames as the file says

  // Whether frames are as the decoders of readers and GPUs make them.
  bool is_plain() const { return dtype == DType::uint8 && !tone_map && !upright; }
};

// What is made of each frame as soon as it is decoded and still in the cache, such as a smaller one: functions that
// whoever reads a video brings along.
struct FrameFilter {
  struct Extents {
    int height, width;
  };
  std::function<Extents(Extents frame)> extents;
  // From and to dense pixels of 3 bytes. Thread-safe.
  std::function<void(const uint8_t* frame, Extents extents, uint8_t* out)> run;
};

// The demuxer of a file with the decoder of its video. Not thread-safe.
class VideoFile {
 public:
  // Without an index, all packets are read to make one.
  explicit VideoFile(storage::ObjectPtr file, std::shared_ptr<const VideoIndex> index = {}, StreamChoice choice = {});
  // From bytes, which must outlive it. Where fewer of these are open than there are CPUs, each has several threads.
  explicit VideoFile(Bytes file, StreamChoice choice = {});
  ~VideoFile();

  // So many threads decode, from the next opening of the decoder on; 0: as many as there are CPUs for this video.
  void use_threads(int count);

  const VideoIndex& index() const;
  std::shared_ptr<const VideoIndex> shared_index() const;

  // The frame that would be decoded next without seeking; -1 if that is not known.
  int64_t position() const;
  // Decodes frames, given in ascending order without duplicates, and shows the i-th of them. Those in `keep`, in
  // ascending order, stay in memory for the next call, as far as they come along, so that it need not decode them
  // again.
  using Show = std::function<void(size_t i, const PicturePlanes& picture)>;
  void decode(std::span<const int64_t> frames, const VideoRequest& request, const Show& show,
              std::span<const int64_t> keep = {});
  // Frees the frames that were kept, and a decoder that has kept some.
  void forget();
  // The extents of frames: turned, where the request says so.
  FrameFilter::Extents extents(const VideoRequest& request) const;
  const MediaStream& stream() const;
  // The demuxer, for another decoder; this one forgets its position.
  MediaStream& lend_stream();

 private:
  class Decoder;
  std::unique_ptr<Decoder> decoder_;
};

// For `avida info`: the common codecs of videos that the CPU decodes, each with its library.
std::vector<std::pair<std::string, std::string>> video_codecs();

// The planes of pictures with a pixel format of FFmpeg, without the memory that they lie in.
PicturePlanes describe_planes(int format, int height, int width, int color_range, int colorspace,
                              const VideoRequest& request);

// How frames beyond the end are replaced.
enum class FramePadding { none, constant, edge, reflect_1001, reflect_101 };
AVIDA_CHOICES(FramePadding, "none", "constant", "edge", "reflect_1001", "reflect_101", {"repeat", FramePadding::edge},
              {"symmetric", FramePadding::reflect_1001}, {"reflect", FramePadding::reflect_101})

// The different frames in ascending order, without -1.
std::vector<int64_t> sorted_frames(std::span<const int64_t> frames);

// Decodes frames in any order and with duplicates, dense; -1 is a frame of the colour `fill`. With a filter, each is
// what that makes of it; the request is plain then.
void decode_frames(VideoFile& file, std::span<const int64_t> frames, const VideoRequest& request,
                   const uint8_t (&fill)[3], void* out, std::span<const int64_t> keep = {},
                   const FrameFilter* filter = nullptr);

// A colour from one value for all channels, or from three.
void read_fill_value(std::span<const int> values, uint8_t (&fill)[3]);

}  // namespace avida::codecs
