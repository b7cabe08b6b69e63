// Which clips a video has: where each begins, and the frames in it.
#pragma once
#include <cstdint>
#include <vector>

#include "codecs/video/video.h"

namespace avida {

struct ClipOptions {
  int64_t length = 1, step = 1, stride = 1;  // frames of a clip; distance of clips; distance of frames in a clip
  bool uniform = false;                      // one clip of evenly spaced frames
  codecs::FramePadding padding = codecs::FramePadding::none;
  // How clips end, where the real library's two readers differ. True: frames up to the last one of a clip must be
  // there, and every clip that begins within the video is padded. False: stride frames must follow each, and one clip
  // is padded.
  bool is_classic = false;
};

// A part of a video, as a list of files gives it.
struct ClipRange {
  int64_t begin, end;  // frames; end is excluded
};

int64_t count_clips(ClipRange range, const ClipOptions& options);
// The frames of a clip; -1 for one that has the fill value.
std::vector<int64_t> clip_frames(ClipRange range, const ClipOptions& options, int64_t clip);
// The frames that are shown at some times; -1 for one that has the fill value. Without padding, a time outside of the
// video is an error.
std::vector<int64_t> frames_shown(const codecs::VideoIndex& index, const std::vector<double>& times,
                                  codecs::FramePadding padding);

// Where a part begins and ends, before the video is known: in seconds or in frames. NaN where nothing was given.
struct ClipBounds {
  double begin, end;
};
struct BoundsOptions {
  bool in_frames = false;  // otherwise in seconds; negative frames count from the end
  codecs::Rounding begin = codecs::Rounding::down, end = codecs::Rounding::up;
};
ClipRange clip_range(const codecs::VideoIndex& index, const ClipBounds& bounds, const BoundsOptions& options);

}  // namespace avida
