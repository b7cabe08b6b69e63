// What a file of annotations says of the objects in one image, in pixels.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace avida {

using Vertex = std::array<float, 2>;  // x, y

// Each of the vectors is empty, or has an element for each object.
struct Annotations {
  std::vector<int32_t> labels;
  std::vector<std::array<float, 4>> boxes;                   // left, top, right, bottom
  std::vector<std::array<float, 5>> rotated;                 // centre, width, height, degrees counter-clockwise
  std::vector<std::vector<Vertex>> outlines;                 // one polygon each, perhaps without vertices
  std::vector<std::vector<std::array<float, 3>>> keypoints;  // x, y and visibility
  std::array<std::vector<int32_t>, 3> numbers;               // of what else a format says
};

// Labels by the names of classes.
using ClassNumbers = std::map<std::string, int32_t, std::less<>>;

// The smallest box around points.
std::array<float, 4> box_around(const std::vector<Vertex>& points);
// The smallest rectangle of any direction around four corners; of a rectangle, its width is the first side.
std::array<float, 5> rotated_around(const std::array<Vertex, 4>& corners);

}  // namespace avida
