// YOLO's texts: a row of numbers for each object, its class and positions in shares of width and height.
#pragma once
#include <set>
#include <string_view>

#include "readers/annotated/annotations.h"

namespace avida {

// What the numbers of a row are.
struct YoloRows {
  enum class Kind { boxes, segments, rotated, keypoints } kind = Kind::boxes;
  int64_t points = 0, numbers_per_point = 0;  // of keypoints
  int64_t classes = 0;                        // how many there are; 0: any
};

// Throws Error, which names the line, beginning with ":".
Annotations parse_yolo(std::string_view text, const YoloRows& rows, int height, int width);
// Adds how many numbers the rows have behind the class.
void count_yolo_numbers(std::string_view text, std::set<int64_t>& counts);

}  // namespace avida
