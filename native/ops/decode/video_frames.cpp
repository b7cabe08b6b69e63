#include "ops/decode/video_frames.h"

#include <algorithm>
#include <cmath>

#include "codecs/limits.h"
#include "core/error.h"
#include "device/border.h"
#include "operator/notices.h"

namespace avida::ops {
namespace {

using codecs::FramePadding;
using codecs::VideoIndex;

// Frames [begin, end) and the times that they stand for.
struct Range {
  int64_t begin, end;
  double from, to;
};

int64_t begin_of(const ClipFrames& choice, const VideoIndex& index) {
  const int64_t count = index.frames();
  if (!choice.start) {
    const int64_t begin = choice.start_frame.value_or(0);
    if (begin >= count) refuse("expected a start_frame below ", count, ", the number of frames, got ", begin);
    return begin;
  }
  if (!(*choice.start >= 0 && *choice.start < index.duration()))
    refuse("expected a start from 0 to below ", index.duration(), " s, the duration of the video, got ", *choice.start);
  return std::clamp<int64_t>(index.shown_at(*choice.start), 0, count - 1);
}

Range range_of(const ClipFrames& choice, const VideoIndex& index) {
  Range range{};
  range.begin = begin_of(choice, index);
  const bool is_inside = range.begin >= 0;
  range.from = choice.start ? *choice.start : is_inside ? index.time(range.begin) : 0;
  range.end = index.frames();
  range.to = index.duration();
  if (choice.end) {
    if (!(*choice.end > range.from)) refuse("expected an end after the start, ", range.from, " s, got ", *choice.end);
    range.end = std::max(index.begun_before(*choice.end), range.begin + 1);
    range.to = std::min(*choice.end, range.to);
  }
  if (choice.end_frame) {
    range.end = *choice.end_frame;
    if (range.end <= range.begin)
      refuse("expected an end_frame above start_frame, which is ", range.begin, ", got ", range.end);
    if (range.end < index.frames()) range.to = index.time(range.end);
  }
  return range;
}

void check_count(double count, const VideoIndex& index) {
  const auto most = static_cast<double>(INT64_MAX / 4);
  codecs::check_memory(static_cast<int64_t>(std::clamp(count, 0.0, most)), int64_t{3} * index.height * index.width);
}

// Frames that are shown at a constant rate from the beginning of a range.
std::vector<int64_t> at_rate(const ClipFrames& choice, const VideoIndex& index, const Range& range) {
  const double fps = *choice.fps;
  const double count =
      choice.sequence_length ? *choice.sequence_length : std::ceil((range.to - range.from) * fps - 1e-6);
  check_count(count, index);
  std::vector<int64_t> frames;
  for (int64_t i = 0; i < static_cast<int64_t>(count); i++) {
    const int64_t frame = index.shown_at(range.from + static_cast<double>(i) / fps);
    frames.push_back(choice.sequence_length ? frame : std::clamp(frame, range.begin, range.end - 1));
  }
  return frames;
}

// The first and the last of a range, and others at equal distances between them: np.linspace(...).round().
std::vector<int64_t> spread(int count, const Range& range, const VideoIndex& index) {
  check_count(count, index);
  const double step = count > 1 ? static_cast<double>(range.end - 1 - range.begin) / (count - 1) : 0;
  std::vector<int64_t> frames;
  for (int64_t i = 0; i < count; i++)
    frames.push_back(std::llrint(static_cast<double>(i) * step + static_cast<double>(range.begin)));
  return frames;
}

// The numbers of the frames as they are asked for, which may lie outside of the video.
std::vector<int64_t> asked_frames(const ClipFrames& choice, const VideoIndex& index) {
  if (choice.frames) return {choice.frames->begin(), choice.frames->end()};
  if (choice.times) {
    std::vector<int64_t> frames;
    for (double time : *choice.times) frames.push_back(index.shown_at(time));
    return frames;
  }
  const Range range = range_of(choice, index);
  if (choice.num_frames) return spread(*choice.num_frames, range, index);
  if (choice.fps) return at_rate(choice, index, range);
  const int64_t stride = choice.stride.value_or(1);
  const int64_t length =
      choice.sequence_length ? *choice.sequence_length : (range.end - range.begin + stride - 1) / stride;
  check_count(static_cast<double>(length), index);
  std::vector<int64_t> frames;
  for (int64_t i = 0; i < length; i++) frames.push_back(range.begin + i * stride);
  return frames;
}

// Black frames that nobody asked for by name are told, by the first call that has any.
void tell_padding(const std::vector<int64_t>& frames, int64_t count, const char* operation, int sample) {
  const auto beyond = std::ranges::find_if(frames, [count](int64_t frame) { return frame < 0 || frame >= count; });
  if (beyond == frames.end()) return;
  post_notice("frames outside of a video",
              str(operation, ": sample ", sample, " has frames 0 to ", count - 1, ", and frame ", *beyond,
                  " was asked for: frames outside of a video are of the colour fill_value; pad_mode=\"constant\" says "
                  "that this is meant, \"edge\" repeats the last frame, and \"none\" makes it an error"));
}

}  // namespace

void ClipFrames::check() const {
  const bool has_range = start || end || fps || start_frame || end_frame || sequence_length || stride || num_frames;
  if (frames.has_value() + times.has_value() + has_range > 1)
    refuse(
        "expected one of frames, times, and a range (start_frame, end_frame, start, end, sequence_length, stride, fps, "
        "num_frames), got several");
  if (start && start_frame) refuse("expected start or start_frame, got both");
  if (sequence_length && end_frame) refuse("expected sequence_length or end_frame, got both");
  if (end && (sequence_length || end_frame)) refuse("expected end, sequence_length or end_frame, got two of them");
  if (stride.has_value() + fps.has_value() + num_frames.has_value() > 1)
    refuse("expected one of stride, fps and num_frames, got several");
  if (num_frames && sequence_length) refuse("expected num_frames or sequence_length, got both");
  if (stride && *stride < 1) refuse("expected a stride of at least 1, got ", *stride);
  if (fps && !(*fps > 0 && std::isfinite(*fps))) refuse("expected fps above 0, got ", *fps);
  if (num_frames && *num_frames < 1) refuse("expected num_frames of at least 1, got ", *num_frames);
  if (sequence_length && *sequence_length < 0)
    refuse("expected a sequence_length of at least 0, got ", *sequence_length);
}

std::vector<int64_t> frames_of(const ClipFrames& choice, const VideoIndex& index, const char* operation, int sample) {
  choice.check();
  const int64_t count = index.frames();
  const FramePadding padding = choice.pad_mode.value_or(FramePadding::constant);
  std::vector<int64_t> frames = asked_frames(choice, index);
  if (!choice.pad_mode) tell_padding(frames, count, operation, sample);
  if (padding == FramePadding::none) {
    for (int64_t frame : frames)
      if (frame < 0 || ((choice.frames || choice.times) && frame >= count))
        refuse("expected frames from 0 to ", count - 1, " with pad_mode=\"none\", got ", frame);
    std::erase_if(frames, [count](int64_t frame) { return frame >= count; });
    return frames;
  }
  const Border border = padding == FramePadding::constant       ? Border::fill
                        : padding == FramePadding::edge         ? Border::clamp
                        : padding == FramePadding::reflect_1001 ? Border::reflect
                                                                : Border::reflect_101;
  for (int64_t& frame : frames) frame = border_index(border, frame, count);
  return frames;
}

Seconds seconds_of(const ClipFrames& choice, const VideoIndex& index) {
  const Range range = range_of(choice, index);
  return {range.from, range.to};
}

std::vector<double> times_of(const std::vector<int64_t>& frames, const VideoIndex& index) {
  std::vector<double> times;
  for (int64_t frame : frames) times.push_back(frame < 0 ? -1 : index.time(frame));
  return times;
}

}  // namespace avida::ops
