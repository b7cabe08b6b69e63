// Which frames of a video a call asks for: by numbers, by times, at a rate, or so many of them.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "codecs/video/video.h"

namespace avida::ops {

struct ClipFrames {
  std::optional<std::vector<int>> frames;
  std::optional<std::vector<double>> times;
  std::optional<double> start, end, fps;  // in seconds after the first frame
  std::optional<int> start_frame, end_frame, sequence_length, stride, num_frames;
  std::optional<codecs::FramePadding> pad_mode;

  // Throws for arguments that contradict each other.
  void check() const;
};

// Their numbers, in any order; -1 for one that has the fill value. `operation` and `sample` are for messages.
std::vector<int64_t> frames_of(const ClipFrames& choice, const codecs::VideoIndex& index, const char* operation,
                               int sample);

// The seconds that a range of frames stands for: from its start to its end, within the video.
struct Seconds {
  double from, to;
};
Seconds seconds_of(const ClipFrames& choice, const codecs::VideoIndex& index);

// Their times in seconds after the first frame; -1 for one that has the fill value.
std::vector<double> times_of(const std::vector<int64_t>& frames, const codecs::VideoIndex& index);

}  // namespace avida::ops
