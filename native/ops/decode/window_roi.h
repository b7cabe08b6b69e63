// Converts the window of a crop or slice to the rectangle of an encoded image.
#pragma once
#include "codecs/image.h"
#include "loops/moving/window.h"

namespace avida::ops {

inline Shape image_shape(const codecs::Extents& image) { return {image.height, image.width, image.channels}; }

inline codecs::Roi window_roi(Window window, const codecs::Extents& image) {
  const Shape shape = image_shape(image);
  for (int d = 0; d < shape.size(); d++)
    if (window.start[d] < 0 || window.size[d] < 0 || window.start[d] > shape[d] - window.size[d])
      refuse("expected a window within the image of shape ", shape, ", got ", window.size, " from ", window.start);
  if (window.size[2] != image.channels) refuse("decoders cut along H and W, not along channels");
  return {static_cast<int>(window.start[0]), static_cast<int>(window.start[1]), static_cast<int>(window.size[0]),
          static_cast<int>(window.size[1])};
}

}  // namespace avida::ops
