// Arguments per frame: the call is run with every frame as a sample, and the results are joined to sequences.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "core/data.h"
#include "device/philox.h"
#include "runtime/memory.h"

namespace avida {

class Gpu;

struct FramePlace {
  int sample, frame;
};

inline bool is_sequence(const Layout& layout) { return !layout.empty() && layout[0] == 'F'; }
Layout without_frames(const Layout& layout);
Layout with_frames(const Layout& layout, int ndim);

// The frames of all sequences of a call.
class Frames {
 public:
  struct Sequences {
    const Data* data;
    std::string_view name;
  };
  // The values that a call was given per frame. If the first input is a sequence, it determines the number of frames;
  // other sequences with a single frame are broadcast.
  Frames(std::span<const Sequences> given, bool first_decides, int samples, bool is_batch);

  const std::vector<FramePlace>& places() const { return places_; }
  int size() const { return static_cast<int>(places_.size()); }
  // Splits a value into one sample per frame. A value without frames is broadcast to all frames.
  Data split(const Data& data) const;
  // Whether every sample has exactly one frame.
  bool single() const;
  // Joins the frames of an operator's result to sequences. Contiguous frames are not copied. If there are no frames,
  // `frame` is the shape of one, provided that it has the right number of axes.
  bool in_order(const Data& frames) const;
  Data join(const Data& frames, const Shape& frame, ResultMemory where) const;

 private:
  std::vector<int64_t> counts_;  // of each sample
  std::vector<FramePlace> places_;
};

// The random stream of one frame, different for each frame.
inline RandomKey key_of_frame(RandomKey key, int frame) {
  key.seed += 0x9E3779B97F4A7C15ul * static_cast<unsigned long>(frame);
  return key;
}

}  // namespace avida
