// Arguments per frame: such a call is run with every frame of its sequences as a sample, and the results are put
// together again.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "core/data.h"
#include "kernel/philox.h"

namespace avida {

struct FramePlace {
  int sample, frame;
};

inline bool is_sequence(const Layout& layout) { return !layout.empty() && layout[0] == 'F'; }
Layout without_frames(const Layout& layout);
Layout with_frames(const Layout& layout, int ndim);

// The frames of all sequences of a call, one after the other.
class Frames {
 public:
  struct Sequences {
    const Data* data;
    std::string_view name;
  };
  // All that a call was given per frame. The first input says how many frames there are, if it is a sequence; of other
  // values one frame stands for as many as there are.
  Frames(std::span<const Sequences> given, bool first_decides, int samples, bool is_batch);

  const std::vector<FramePlace>& places() const { return places_; }
  int size() const { return static_cast<int>(places_.size()); }
  // A sample for each frame. A value without frames of its own stands for all.
  Data split(const Data& data) const;
  // Whether every sample has exactly one.
  bool single() const;
  // The opposite, for what an operator has made. Frames in order are not moved. Where there are none, `frame` is the
  // shape of one, if it has as many axes.
  bool in_order(const Data& frames) const;
  Data join(const Data& frames, const Shape& frame) const;

 private:
  std::vector<int64_t> counts_;  // of each sample
  std::vector<FramePlace> places_;
};

// The random numbers of one frame, other ones than those of the frames beside it.
inline RandomKey key_of_frame(RandomKey key, int frame) {
  key.seed += 0x9E3779B97F4A7C15ul * static_cast<unsigned long>(frame);
  return key;
}

}  // namespace avida
