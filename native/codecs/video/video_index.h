// VideoIndex: the times of the frames of a video, and the keyframes at which decoding can begin.
#pragma once
#include <cstdint>
#include <vector>

namespace avida::codecs {

// How a time between two frames is rounded.
enum class Rounding { down, up };

struct VideoIndex {
  struct Key {
    int64_t frame;     // decoding from here gives this frame, and all later ones
    int64_t pts, dts;  // of its packet
  };

  std::vector<int64_t> times;      // of the frames, ascending, in units of the time base
  std::vector<int64_t> durations;  // of the frames, as their packets say; empty unless they were asked for
  std::vector<Key> keys;      // by frame; empty where packets have no times of their own: decoding begins at the start
  double unit = 0;            // seconds per unit of the time base
  int64_t last_duration = 0;  // of the last frame, in these units; 0 if that is not known
  int height = 0, width = 0;
  bool has_times = true;  // otherwise frames are known by their order alone

  int64_t frames() const { return static_cast<int64_t>(times.size()); }
  // In seconds after the first frame.
  double time(int64_t frame) const { return static_cast<double>(times[frame] - times[0]) * unit; }
  // When the first frame is shown, in seconds on the clock of the file.
  double begin() const { return times.empty() ? 0 : static_cast<double>(times[0]) * unit; }
  // When the last frame ends, in seconds after the first frame.
  double duration() const;
  // The frame that is shown at a time; of times between two frames the earlier or later one. From 0 to frames().
  int64_t frame_at(double seconds, Rounding rounding) const;
  // The frame that a player shows at a time: the last one that has begun, or begins within a millisecond and a
  // twentieth of a frame, since times are rounded. Negative, or frames() and more, at times outside of the video.
  int64_t shown_at(double seconds) const;
  // How many frames begin before a time, and not within that distance of it.
  int64_t begun_before(double seconds) const;
  // Whether the distances of frames differ by more than the rounding of times explains.
  bool variable_rate() const;
  double rate() const;  // frames per second, on average; 0 unless there are two frames

  // The position in `keys` of the last keyframe at or before a frame; -1 if there is none.
  int64_t key_before(int64_t frame) const;
  // The frame with this time, or -1.
  int64_t find(int64_t time) const;

 private:
  double early(double distance) const;
};

}  // namespace avida::codecs
