// Demosaics a pixel by a variable number of gradients (Chang, Cheung and Pang, 1999).
// Of eight directions, those with the smallest gradients tell how the missing colours differ from the known one.
#pragma once
#include "device/border.h"

namespace avida::ops {

// What the chosen directions say, added up and times two, since some of it is means of two. Beside the own colour of
// the pixel, `first` is green, or, where the pixel is green, the other colour of its row; `second` is the third one. A
// Number is an integer or a vector of integers; 16 bits suffice for bytes.
template <class Number>
struct VngSums {
  Number own, first, second, count;
};

template <class Number>
AVIDA_HD AVIDA_INLINE Number distance(const Number& a, const Number& b) {
  Number change = a - b;
  return change < 0 ? -change : change;
}

// The same of two pixels, always in one order: what opposite directions ask for is computed once.
template <class At>
AVIDA_HD AVIDA_INLINE auto distance(const At& at, int y, int x, int other_y, int other_x) {
  const bool ordered = y < other_y || (y == other_y && x < other_x);
  return ordered ? distance(at(y, x), at(other_y, other_x)) : distance(at(other_y, other_x), at(y, x));
}

// How much changes towards a direction, times two. at(dy, dx) is a pixel of the neighbourhood.
template <bool green, class At>
AVIDA_HD AVIDA_INLINE auto gradient(const At& at, int dy, int dx) {
  auto sum = distance(at, dy, dx, -dy, -dx) + distance(at, 2 * dy, 2 * dx, 0, 0);
  sum += sum;
  if (dy == 0 || dx == 0) {
    sum += distance(at, dy + dx, dx + dy, dx - dy, dy - dx);
    sum += distance(at, dy - dx, dx - dy, -dx - dy, -dy - dx);
    sum += distance(at, 2 * dy + dx, 2 * dx + dy, dx, dy);
    sum += distance(at, 2 * dy - dx, 2 * dx - dy, -dx, -dy);
  } else if constexpr (green) {
    auto beside = distance(at, 2 * dy, dx, 0, -dx) + distance(at, dy, 2 * dx, -dy, 0);
    sum += beside + beside;
  } else {
    sum += distance(at, dy, 0, 0, -dx) + distance(at, 0, dx, -dy, 0);
    sum += distance(at, 2 * dy, dx, dy, 0) + distance(at, dy, 2 * dx, 0, dx);
  }
  return sum;
}

// The colours towards a direction, times two.
template <bool green, class Number, class At>
AVIDA_HD AVIDA_INLINE VngSums<Number> colors_towards(const At& at, int dy, int dx) {
  Number near = at(dy, dx) + at(dy, dx), own = at(0, 0) + at(2 * dy, 2 * dx), one = Number{} + 1;
  if (dy == 0 || dx == 0) {
    if constexpr (!green) return {own, near, at(dy + dx, dx + dy) + at(dy - dx, dx - dy), one};
    Number far = at(2 * dy + dx, 2 * dx + dy) + at(2 * dy - dx, 2 * dx - dy);
    return dy == 0 ? VngSums<Number>{own, near, far, one} : VngSums<Number>{own, far, near, one};
  }
  if constexpr (green) return {near, at(0, dx) + at(2 * dy, dx), at(dy, 0) + at(dy, 2 * dx), one};
  return {own, (at(dy, 0) + at(0, dx) + at(2 * dy, dx) + at(dy, 2 * dx)) >> 1, near, one};
}

// Adds the colours towards a direction if it changes less than the limit.
template <bool green, class Number, class At>
AVIDA_HD AVIDA_INLINE void add_if_smooth(VngSums<Number>& sums, const At& at, int dy, int dx, const Number& change,
                                         const Number& limit) {
  VngSums<Number> towards = colors_towards<green, Number>(at, dy, dx);
  const Number none = Number{};
  sums.own += change < limit ? towards.own : none;
  sums.first += change < limit ? towards.first : none;
  sums.second += change < limit ? towards.second : none;
  sums.count += change < limit ? towards.count : none;
}

// Directions are written out, since compilers do not unroll loops that large, and constants are what makes it fast.
template <bool green, class Number, class At>
AVIDA_HD AVIDA_INLINE VngSums<Number> vng_sums(const At& at) {
  const Number changes[8] = {gradient<green>(at, -1, -1), gradient<green>(at, -1, 0), gradient<green>(at, -1, 1),
                             gradient<green>(at, 0, -1),  gradient<green>(at, 0, 1),  gradient<green>(at, 1, -1),
                             gradient<green>(at, 1, 0),   gradient<green>(at, 1, 1)};
  Number least = changes[0], most = changes[0];
  for (Number change : changes) {
    least = change < least ? change : least;
    most = change > most ? change : most;
  }
  const Number none = Number{}, one = none + 1, half = most >> 1;
  const Number limit = least + (half > one ? half : one);
  VngSums<Number> sums = {none, none, none, none};
  add_if_smooth<green>(sums, at, -1, -1, changes[0], limit);
  add_if_smooth<green>(sums, at, -1, 0, changes[1], limit);
  add_if_smooth<green>(sums, at, -1, 1, changes[2], limit);
  add_if_smooth<green>(sums, at, 0, -1, changes[3], limit);
  add_if_smooth<green>(sums, at, 0, 1, changes[4], limit);
  add_if_smooth<green>(sums, at, 1, -1, changes[5], limit);
  add_if_smooth<green>(sums, at, 1, 0, changes[6], limit);
  add_if_smooth<green>(sums, at, 1, 1, changes[7], limit);
  return sums;
}

// A missing colour, of twice the difference from the own one, summed up.
AVIDA_HD AVIDA_INLINE unsigned char vng_color(int own, int difference, int count) {
  float mean = static_cast<float>(difference) * (1.0f / static_cast<float>(2 * count));
  constexpr float whole = 3 << 22;  // so large that a sum has no bits for a fraction: it is rounded half to even
  int color = own + static_cast<int>((mean + whole) - whole);
  return static_cast<unsigned char>(color < 0 ? 0 : color > 255 ? 255 : color);
}

// An image of a sensor; borders reflect, without the outermost pixel, which keeps the pattern of colours.
struct SensorPixel {
  const unsigned char* image;
  long height, width, y, x;
  AVIDA_HD AVIDA_INLINE int operator()(int dy, int dx) const {
    return image[border_index(Border::reflect_101, y + dy, height) * width +
                 border_index(Border::reflect_101, x + dx, width)];
  }
};

// All colours of a pixel, in whose row is blue beside green, or red.
template <class At>
AVIDA_HD AVIDA_INLINE void vng_pixel(unsigned char* out, const At& at, bool green, bool blue) {
  VngSums<int> sums = green ? vng_sums<true, int>(at) : vng_sums<false, int>(at);
  int center = at(0, 0), own = blue ? 2 : 0;
  out[green ? 1 : own] = static_cast<unsigned char>(center);
  out[green ? own : 1] = vng_color(center, sums.first - sums.own, sums.count);
  out[2 - own] = vng_color(center, sums.second - sums.own, sums.count);
}

}  // namespace avida::ops
