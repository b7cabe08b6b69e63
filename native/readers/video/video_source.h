// The source of the readers of videos: clips of frames, with labels, frame numbers and times.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codecs/video/video.h"
#include "readers/file/file_list.h"
#include "readers/source.h"
#include "readers/video/video_clips.h"
#include "readers/video/video_indexes.h"

namespace avida {

enum class FrameNumbers { none, first, all };

// The times of the frames of each clip, in seconds.
using ClipTimes = std::vector<std::vector<double>>;

struct VideoOptions {
  std::string reader;  // its name, for messages
  ClipOptions clips;
  BoundsOptions bounds;
  std::optional<ClipTimes> times;  // a clip of each file instead
  codecs::VideoRequest request;
  std::shared_ptr<const codecs::FrameFilter> filter;  // or null; for uint8 only
  std::vector<int> fill_value = {0};
  DType dtype = DType::uint8;  // or float32
  bool normalized = false;     // floats from 0 to 1
  bool labels = false, timestamps = false;
  FrameNumbers frame_numbers = FrameNumbers::none;
  bool refuse_variable_rate = false;
  std::optional<int> gpu;  // where frames are decoded; otherwise on the CPU
};

// Outputs: the frames (FHWC); then, if requested, label (int32), frame numbers (int32), times in seconds (float64).
// `bounds` is empty, or has a part for each file. A file that cannot be read is one sample that fails. `known` are
// indexes from earlier runs, or null.
std::shared_ptr<Source> video_source(const FileList& files, const std::vector<ClipBounds>& bounds,
                                     const VideoOptions& options, VideoIndexes* known, const Interrupt& interrupt);

}  // namespace avida
