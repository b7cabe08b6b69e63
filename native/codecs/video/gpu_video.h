// GpuVideo: decodes chosen frames of a video into memory of a GPU: by NVDEC, or by libavcodec where NVDEC cannot.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "codecs/video/video.h"
#include "gpu/gpu.h"

namespace avida::codecs {

// Where decoded frames go, dense and interleaved.
struct GpuFrames {
  void* out;
  DType dtype;  // uint8, or float32 from 0 to 255 * scale
  float scale;
  const uint8_t* fill;  // the colour of frames that are not in the video
  const GpuStream& stream;
};

// A picture in memory of a GPU, and where its pixels go.
struct GpuPicture {
  PicturePlanes planes;
  void* pixels;
};

// What pictures are made to, dense and interleaved.
struct GpuPixels {
  ImageType type;
  DType dtype;
  float scale;
};

// Converts pictures of one video in the order of a stream, with one launch for all of them. A loop family does that,
// which stands below: it gives its function here when the library is loaded.
using ConvertPictures = void (*)(std::span<const GpuPicture> pictures, const GpuPixels& to, const GpuStream& stream);
bool set_picture_conversion(ConvertPictures convert);

// What the next call will decode: frames that follow, no frames at all, or nobody knows.
enum class NextFrames { follow, none, unknown };

// Pictures are converted by a kernel in both cases, so the results are the same, and those of the CPU.
class GpuVideo {
 public:
  // Profiles call the video by this name.
  GpuVideo(VideoFile& file, std::string name);
  ~GpuVideo();

  // Whether a decoder of NVDEC belongs to it.
  bool has_engine() const;
  // The frame that would be decoded next without seeking; -1 if that is not known.
  int64_t position() const;
  // Decodes frames in any order and with duplicates, in the order of the stream; -1 is a frame of the colour `fill`.
  // `keep`: as of VideoFile.
  void decode(std::span<const int64_t> frames, const VideoRequest& request, const GpuFrames& to, NextFrames next,
              std::span<const int64_t> keep = {});
  // Frees the frames that were kept.
  void forget();

 private:
  class Engine;
  void decode_missing(std::span<const int64_t> frames, const VideoRequest& request, const GpuFrames& to,
                      NextFrames next, const std::map<int64_t, void*>& places);

  VideoFile& file_;
  const std::string name_;
  std::unique_ptr<Engine> engine_;
  std::optional<std::string> refusal_;  // why the engine does not decode it
  std::map<int64_t, Block> kept_;       // converted frames for the next call
};

}  // namespace avida::codecs
