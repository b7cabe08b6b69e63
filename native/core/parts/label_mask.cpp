#include "core/parts/label_mask.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace avida {
namespace {

constexpr int64_t kParts = 5;      // the subdivision of a pixel to which outlines are rounded
constexpr double kFarthest = 1e9;  // keeps corrupt coordinates within int64 arithmetic
constexpr int64_t kMostColumns = int64_t{1} << 25;

int64_t round_to_parts(float x) {
  double parts = kParts * static_cast<double>(x) + .5;
  if (!(parts > -kFarthest)) return static_cast<int64_t>(-kFarthest);
  return static_cast<int64_t>(std::min(parts, kFarthest));
}

}  // namespace

// An outline runs through points one part apart. It enters or leaves columns between the third and the fourth part of
// each, where the centre of its pixels is; the upper one of the two points counts. Only these points are computed.
void LabelMask::cross_columns(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
  int64_t dx = std::abs(x1 - x0), dy = std::abs(y1 - y0);
  bool flat = dx >= dy;
  if (flat ? x0 > x1 : y0 > y1) {
    std::swap(x0, x1);
    std::swap(y0, y1);
  }
  if (dx == 0) return;
  // Rounding towards zero, as in C, is part of the definition, also for negative numbers.
  double slope = flat ? static_cast<double>(y1 - y0) / dx : static_cast<double>(x1 - x0) / dy;
  auto across = [&](int64_t t) { return static_cast<int64_t>((flat ? y0 : x0) + slope * t + .5); };

  int64_t left = std::min(x0, x1), right = std::max(x0, x1);
  int64_t column = left <= kParts / 2 ? 0 : (left - kParts / 2 + kParts - 1) / kParts;
  for (; column < width_; column++) {
    int64_t x = column * kParts + kParts / 2, y;  // the crossing is between x and x + 1
    if (x + 1 > right) break;
    if (flat) {
      y = std::min(across(x - x0), across(x + 1 - x0));
    } else {
      // The last step before the crossing: horizontal steps are never larger than one.
      int64_t before = 0, behind = dy;
      bool rightwards = x1 > x0;
      if ((across(0) <= x) == (across(dy) <= x)) continue;
      while (behind - before > 1) {
        int64_t middle = (before + behind) / 2;
        ((across(middle) <= x) == rightwards ? before : behind) = middle;
      }
      y = before + y0;
    }
    double row = std::ceil((static_cast<double>(y) + .5) / kParts - .5);
    crossings_.push_back(column * height_ + std::clamp(static_cast<int64_t>(row), int64_t{0}, height_));
  }
}

// A few numbers can describe an outline that crosses a wide image many times; it must not exhaust time and memory.
void LabelMask::check_length(std::span<const Vertex> outline) {
  const int64_t right_end = width_ * kParts;
  int64_t last = std::clamp(round_to_parts(outline.back()[0]), int64_t{0}, right_end);
  for (const Vertex& vertex : outline) {
    int64_t x = std::clamp(round_to_parts(vertex[0]), int64_t{0}, right_end);
    all_columns_ += std::abs(x - last) / kParts;
    last = x;
  }
  if (all_columns_ > kMostColumns)
    refuse("expected outlines that cross at most ", kMostColumns, " columns of pixels, got ", all_columns_);
}

std::span<const int64_t> LabelMask::ends_of_polygon(std::span<const Vertex> outline) {
  crossings_.clear();
  if (outline.empty()) return crossings_;
  check_length(outline);
  int64_t last_x = round_to_parts(outline.back()[0]), last_y = round_to_parts(outline.back()[1]);
  for (const Vertex& vertex : outline) {
    int64_t x = round_to_parts(vertex[0]), y = round_to_parts(vertex[1]);
    cross_columns(last_x, last_y, x, y);
    last_x = x;
    last_y = y;
  }
  std::sort(crossings_.begin(), crossings_.end());
  if (crossings_.size() % 2) crossings_.push_back(height_ * width_);
  return crossings_;
}

void LabelMask::paint_polygon(std::span<const Vertex> outline, int32_t label) {
  const auto ends = ends_of_polygon(outline);
  for (size_t i = 0; i < ends.size(); i += 2) paint(ends[i], ends[i + 1], label);
}

void LabelMask::paint_runs(std::span<const uint32_t> lengths, int32_t label) {
  int64_t at = 0;
  for (size_t i = 0; i < lengths.size(); at += lengths[i++])
    if (i % 2) paint(at, at + lengths[i], label);
}

void LabelMask::paint(int64_t begin, int64_t end, int32_t label) {
  while (begin < end) {
    int64_t column = begin / height_, row = begin % height_;
    int64_t rows = std::min(height_ - row, end - begin);
    int32_t* pixel = pixels_ + row * width_ + column;
    for (int64_t i = 0; i < rows; i++) pixel[i * width_] = label;
    begin += rows;
  }
}

bool decode_runs(std::string_view text, std::vector<uint32_t>& lengths) {
  size_t first = lengths.size();
  for (size_t at = 0; at < text.size();) {
    // Five bits per character, the lowest first; bit 5 is the continuation flag, bit 4 of the last one is the sign.
    int64_t length = 0;
    int shift = 0;
    for (bool more = true; more; shift += 5) {
      if (at == text.size() || shift > 35) return false;
      int bits = static_cast<unsigned char>(text[at++]) - 48;
      if (bits < 0 || bits > 63) return false;
      length |= static_cast<int64_t>(bits & 31) << shift;
      more = bits & 32;
      if (!more && (bits & 16)) length -= int64_t{32} << shift;
    }
    // From the fourth on, a length is stored as its difference to the length two before it.
    if (lengths.size() - first > 2) length += lengths[lengths.size() - 2];
    if (length < 0 || length > UINT32_MAX) return false;
    lengths.push_back(static_cast<uint32_t>(length));
  }
  return true;
}

}  // namespace avida
