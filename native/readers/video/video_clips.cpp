#include "readers/video/video_clips.h"

#include <algorithm>
#include <cmath>

#include "device/border.h"

namespace avida {
namespace {

using codecs::FramePadding;
using codecs::Rounding;

int64_t frame_of(const codecs::VideoIndex& index, double bound, bool in_frames, Rounding rounding) {
  const int64_t count = index.frames();
  if (!in_frames) return std::min(index.frame_at(bound, rounding), count);
  const double number = rounding == Rounding::down ? std::floor(bound) : std::ceil(bound);
  const double from_start = number < 0 ? number + static_cast<double>(count) : number;
  return static_cast<int64_t>(std::clamp(from_start, 0.0, static_cast<double>(count)));
}

Border border_of(FramePadding padding) {
  switch (padding) {
    case FramePadding::edge:
      return Border::clamp;
    case FramePadding::reflect_1001:
      return Border::reflect;
    case FramePadding::reflect_101:
      return Border::reflect_101;
    default:
      return Border::fill;
  }
}

}  // namespace

int64_t count_clips(ClipRange range, const ClipOptions& options) {
  const int64_t frames = range.end - range.begin;
  if (frames <= 0) return 0;
  if (options.uniform) return 1;
  const bool pads = options.padding != FramePadding::none;
  int64_t span = options.length * options.stride;
  if (options.is_classic) span = pads ? 1 : 1 + (options.length - 1) * options.stride;
  const int64_t full = frames < span ? 0 : (frames - span) / options.step + 1;
  return full + (pads && !options.is_classic && full * options.step < frames);
}

std::vector<int64_t> clip_frames(ClipRange range, const ClipOptions& options, int64_t clip) {
  const int64_t count = range.end - range.begin;
  std::vector<int64_t> frames(static_cast<size_t>(options.length));
  for (int64_t i = 0; i < options.length; i++) {
    int64_t frame;
    if (options.uniform) {
      const double share = options.length == 1 ? 0 : static_cast<double>(i) / static_cast<double>(options.length - 1);
      frame = static_cast<int64_t>(std::floor(share * static_cast<double>(count - 1) + 0.5));
    } else {
      frame = border_index(border_of(options.padding), clip * options.step + i * options.stride, count);
    }
    frames[static_cast<size_t>(i)] = frame < 0 ? -1 : range.begin + frame;
  }
  return frames;
}

std::vector<int64_t> frames_shown(const codecs::VideoIndex& index, const std::vector<double>& times,
                                  FramePadding padding) {
  std::vector<int64_t> frames;
  for (double time : times) {
    const int64_t frame = index.shown_at(time);
    if (padding == FramePadding::none && (frame < 0 || frame >= index.frames()))
      refuse("expected times from 0 to ", index.time(index.frames() - 1),
             " s, that of the last frame, without padding, got ", time, " s");
    frames.push_back(border_index(border_of(padding), frame, index.frames()));
  }
  return frames;
}

ClipRange clip_range(const codecs::VideoIndex& index, const ClipBounds& bounds, const BoundsOptions& options) {
  ClipRange range{0, index.frames()};
  if (!std::isnan(bounds.begin)) range.begin = frame_of(index, bounds.begin, options.in_frames, options.begin);
  if (!std::isnan(bounds.end)) range.end = frame_of(index, bounds.end, options.in_frames, options.end);
  return range;
}

}  // namespace avida
