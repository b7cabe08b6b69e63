// Rasterizes polygons and run lengths to masks, as COCO's tools do.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace avida {

using Vertex = std::array<float, 2>;  // x, y

// An image of labels, row by row.
class LabelMask {
 public:
  LabelMask(int32_t* pixels, int64_t height, int64_t width) : pixels_(pixels), height_(height), width_(width) {}

  // Pixels whose centre is inside, by the even-odd rule, after rounding the outline to fifths of a pixel. Throws
  // for extremely long outlines.
  void paint_polygon(std::span<const Vertex> outline, int32_t label);
  // Where these pixels begin and end in turn, counted column by column. Until the next call.
  std::span<const int64_t> ends_of_polygon(std::span<const Vertex> outline);
  // Run lengths, column by column, alternating between background and object. They must not exceed the mask.
  void paint_runs(std::span<const uint32_t> lengths, int32_t label);

 private:
  void check_length(std::span<const Vertex> outline);
  void cross_columns(int64_t x0, int64_t y0, int64_t x1, int64_t y1);
  void paint(int64_t begin, int64_t end, int32_t label);  // pixels counted column by column

  int32_t* pixels_;
  int64_t height_, width_;
  std::vector<int64_t> crossings_;  // where inside and outside change, in column-major order
  int64_t all_columns_ = 0;         // columns that all outlines cross
};

// Appends the lengths of a compressed string to `lengths`. Returns false if the string is damaged.
bool decode_runs(std::string_view text, std::vector<uint32_t>& lengths);

}  // namespace avida
