// The canvas of an animation: frames are drawn on it, and disposed of before the next one.
#pragma once
#include <vector>

#include "codecs/codec.h"

namespace avida::codecs {

// What becomes of a frame's rectangle before the next frame is drawn.
enum class Disposal { keep, clear, restore };

// A frame: pixels of red, green, blue and alpha for its rectangle, which may exceed the canvas.
struct Frame {
  Roi place;
  const uint8_t* pixels;
  bool over = true;  // with alpha over what is there; otherwise in its place
  Disposal disposal = Disposal::keep;
};

class Canvas {
 public:
  Canvas(int height, int width) : height_(height), width_(width), pixels_(size_t{4} * height * width) {}

  void draw(const Frame& frame);
  const uint8_t* pixels() const { return pixels_.data(); }

 private:
  void dispose();
  template <class Fn>
  void each_row(const Roi& place, const Fn& fn);

  int height_, width_;
  std::vector<uint8_t> pixels_, saved_;
  Roi last_;
  Disposal disposal_ = Disposal::keep;
};

}  // namespace avida::codecs
