// MediaInfo: what the headers of a file say of its streams: sizes, rates, durations, codecs and colours.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codecs/video/media_stream.h"

struct AVCodecParameters;

namespace avida::codecs {

struct Ratio {
  int64_t numerator, denominator;
};

// One stream of a file. What the file does not say is absent, 0 or empty.
struct StreamInfo {
  int number = 0;
  std::string kind, codec, profile, language;  // kind: "video", "audio", "subtitle", "data" or "attachment"
  std::optional<double> begin, duration;       // in seconds
  int64_t bit_rate = 0, frames = 0;            // per second; pictures or packets, as the header counts them
  std::string format;                          // of pixels or samples, as FFmpeg names it
  int bits = 0;                                // of a channel of a pixel
  // Of videos.
  int height = 0, width = 0;
  std::optional<Ratio> average_rate, exact_rate, pixel_aspect;
  std::string matrix, primaries, transfer, range;
  int rotation = 0;                 // degrees to turn the picture clockwise, so that it is upright
  std::optional<double> displayed;  // the angle of the file's matrix as it is, counterclockwise
  // Of sound.
  int rate = 0, channels = 0;
  std::string layout;
};

struct MediaInfo {
  std::string container;
  std::optional<double> duration;
  int64_t bit_rate = 0;
  std::vector<StreamInfo> streams;
  int best_video = -1, best_sound = -1;
};

MediaInfo media_info(const AVFormatContext& file);

// How a stream is to be shown, in EXIF's numbers: 1 where it is not told, or by other angles than right ones.
int orientation_of(const AVStream& stream);

}  // namespace avida::codecs
