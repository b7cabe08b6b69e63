// Where the frames of a sample lie, and where their spectra go. Read by NVRTC too: no std headers.
#pragma once
#include "device/border.h"
#include "device/divide.h"

namespace avida {

// Frame f has the elements from f * hop - before on of the line f.
struct FrameGrid {
  const float* in;
  float* out;
  const float* window;  // factors of the elements; null for ones
  long window_length;   // elements of a frame; zeros follow up to the length of the transform
  long frames, inner;   // lines: `inner` adjacent ones are `inside` apart, groups of them `outside`
  long in_outside, in_inside, in_step, line_length;
  long out_outside, out_inside, out_step;
  long hop, before;
  Border border;
  bool magnitude;  // and not its square

  AVIDA_HD AVIDA_INLINE long line(long frame) const { return offset(frame, in_outside, in_inside); }
  AVIDA_HD AVIDA_INLINE long output(long frame) const { return offset(frame, out_outside, out_inside); }
  // The index of a frame's first element in its line; negative in padding.
  AVIDA_HD AVIDA_INLINE long begin(long frame) const { return frame * hop - before; }
  // Whether a frame of so many elements needs no padding.
  AVIDA_HD AVIDA_INLINE bool is_inside(long frame, long length) const {
    return begin(frame) >= 0 && begin(frame) + length <= line_length;
  }
  // Element t of a frame, without the window.
  AVIDA_HD AVIDA_INLINE float element(long frame, long t) const {
    const long at = border_index(border, begin(frame) + t, line_length);
    return at < 0 ? 0 : in[line(frame) + at * in_step];
  }

 private:
  AVIDA_HD AVIDA_INLINE long offset(long frame, long outside, long inside) const {
    if (inner == 1) return frame * outside;
    const Divided at = divided(frame, inner);
    return at.whole * outside + at.rest * inside;
  }
};

}  // namespace avida
