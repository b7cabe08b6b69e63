#include "codecs/canvas.h"

#include <algorithm>
#include <cstring>

namespace avida::codecs {
namespace {

Roi within(const Roi& place, int height, int width) {
  const int top = std::clamp(place.y, 0, height), left = std::clamp(place.x, 0, width);
  const auto end = [](int at, int extent, int most) {
    return static_cast<int>(std::min<int64_t>(int64_t{at} + extent, most));
  };
  return {top, left, std::max(0, end(place.y, place.height, height) - top),
          std::max(0, end(place.x, place.width, width) - left)};
}

// With alpha that is not premultiplied, rounded to the nearest.
void blend_pixel(const uint8_t* from, uint8_t* to) {
  const int alpha = from[3];
  if (alpha == 255 || to[3] == 0) {
    std::memcpy(to, from, 4);
  } else if (alpha) {
    const int below = to[3] * (255 - alpha), sum = 255 * alpha + below;
    for (int c = 0; c < 3; ++c) to[c] = static_cast<uint8_t>((from[c] * alpha * 255 + to[c] * below + sum / 2) / sum);
    to[3] = static_cast<uint8_t>((sum + 127) / 255);
  }
}

}  // namespace

// Calls fn(row on the canvas, bytes, row of the place) for the part of the place that is on the canvas.
template <class Fn>
void Canvas::each_row(const Roi& place, const Fn& fn) {
  const Roi part = within(place, height_, width_);
  for (int y = part.y; y < part.y + part.height; ++y)
    fn(pixels_.data() + (int64_t{y} * width_ + part.x) * 4, int64_t{4} * part.width, y - place.y);
}

void Canvas::dispose() {
  if (disposal_ == Disposal::clear)
    each_row(last_, [](uint8_t* row, int64_t bytes, int) { std::memset(row, 0, bytes); });
  const uint8_t* from = saved_.data();
  if (disposal_ == Disposal::restore)
    each_row(last_, [&from](uint8_t* row, int64_t bytes, int) { std::memcpy(row, from, bytes), from += bytes; });
}

void Canvas::draw(const Frame& frame) {
  dispose();
  last_ = frame.place, disposal_ = frame.disposal;
  if (disposal_ == Disposal::restore) {
    saved_.clear();
    each_row(last_, [this](const uint8_t* row, int64_t bytes, int) { saved_.insert(saved_.end(), row, row + bytes); });
  }
  each_row(frame.place, [&frame](uint8_t* row, int64_t bytes, int y) {
    const uint8_t* from = frame.pixels + int64_t{4} * y * frame.place.width;
    if (!frame.over) return void(std::memcpy(row, from, bytes));
    for (int64_t i = 0; i < bytes; i += 4) blend_pixel(from + i, row + i);
  });
}

}  // namespace avida::codecs
