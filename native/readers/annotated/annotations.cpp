#include "readers/annotated/annotations.h"

#include <algorithm>
#include <cmath>

namespace avida {
namespace {

struct Rectangle {
  double area, x, y, width, height, angle;
};

// Around the corners, with sides along a direction.
Rectangle along(const std::array<Vertex, 4>& corners, double dx, double dy) {
  double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
  for (const Vertex& corner : corners) {
    const double at[] = {corner[0] * dx + corner[1] * dy, corner[1] * dx - corner[0] * dy};
    for (int i : {0, 1}) low[i] = std::min(low[i], at[i]), high[i] = std::max(high[i], at[i]);
  }
  const double right = (low[0] + high[0]) / 2, down = (low[1] + high[1]) / 2;
  const double width = high[0] - low[0], height = high[1] - low[1];
  return {width * height, right * dx - down * dy, right * dy + down * dx, width, height, std::atan2(-dy, dx)};
}

}  // namespace

std::array<float, 4> box_around(const std::vector<Vertex>& points) {
  std::array<float, 4> box{INFINITY, INFINITY, -INFINITY, -INFINITY};
  for (const Vertex& point : points)
    for (int i : {0, 1}) box[i] = std::min(box[i], point[i]), box[2 + i] = std::max(box[2 + i], point[i]);
  return points.empty() ? std::array<float, 4>{} : box;
}

std::array<float, 5> rotated_around(const std::array<Vertex, 4>& corners) {
  // One side of the smallest rectangle leads through two of the corners.
  constexpr int kPairs[][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 2}, {1, 3}};
  constexpr double kNoticeable = 1 - 1e-4;
  Rectangle best = along(corners, 1, 0);
  bool found = false;
  for (auto [from, to] : kPairs) {
    const double x = corners[to][0] - corners[from][0], y = corners[to][1] - corners[from][1];
    const double length = std::hypot(x, y);
    if (!(length > 0)) continue;
    const Rectangle rectangle = along(corners, x / length, y / length);
    if (!found || rectangle.area < best.area * kNoticeable) best = rectangle;
    found = true;
  }
  return {static_cast<float>(best.x), static_cast<float>(best.y), static_cast<float>(best.width),
          static_cast<float>(best.height), static_cast<float>(best.angle * (180 / M_PI))};
}

}  // namespace avida
