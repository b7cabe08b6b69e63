// Levels of light at the places of an image: gradients, polygons, disks, streaks, and noise.
#pragma once
#include "device/math.h"

namespace avida::ops {

AVIDA_HD AVIDA_INLINE float share_of_one(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }

// The sum of a number for the column and one for the row, or their product, or the length of both as sides.
struct GradientField {
  static constexpr const char* header = "ops/effects/fields.h";
  enum Kind : int { sum, product, length };
  const float *columns, *rows;
  Kind kind;

  AVIDA_HD AVIDA_INLINE float joined(float a, float b) const {
    return kind == sum ? a + b : kind == product ? a * b : math::sqrt(a * a + b * b);
  }
  AVIDA_HD AVIDA_INLINE float operator()(int x, int y) const { return joined(columns[x], rows[y]); }
  AVIDA_HD AVIDA_INLINE void row(float* level, int n, int y) const {
    const float b = rows[y];
    if (kind == sum)
      for (int x = 0; x < n; x++) level[x] = columns[x] + b;
    else if (kind == product)
      for (int x = 0; x < n; x++) level[x] = columns[x] * b;
    else
      for (int x = 0; x < n; x++) level[x] = math::sqrt(columns[x] * columns[x] + b * b);
  }
};

// How dark shadows make a place: each takes its share of the light that others leave.
struct ShadowField {
  static constexpr const char* header = "ops/effects/fields.h";
  struct Polygon {
    int first, count;  // of its corners
    float darkness;
  };
  const float *x, *y;  // of the corners
  const Polygon* polygons;
  int count;

  // Where the side from a corner of a polygon crosses the middle of a row; false if it does not.
  AVIDA_HD AVIDA_INLINE bool crosses(const Polygon& polygon, int k, float middle, float& at) const {
    const int i = polygon.first + k, j = polygon.first + (k + 1 == polygon.count ? 0 : k + 1);
    if ((y[i] <= middle) == (y[j] <= middle)) return false;
    at = x[i] + (middle - y[i]) / (y[j] - y[i]) * (x[j] - x[i]);
    return true;
  }
  AVIDA_HD AVIDA_INLINE float operator()(int column, int row) const {
    float light = 1, at = 0;
    for (int p = 0; p < count; p++) {
      bool inside = false;
      for (int k = 0; k < polygons[p].count; k++)
        if (crosses(polygons[p], k, static_cast<float>(row) + 0.5f, at))
          inside ^= static_cast<float>(column) + 0.5f < at;
      if (inside) light *= 1 - polygons[p].darkness;
    }
    return 1 - light;
  }
  AVIDA_HD AVIDA_INLINE void row(float* level, int n, int row) const {
    for (int i = 0; i < n; i++) level[i] = 1;
    for (int p = 0; p < count; p++) {
      // Between the first and the second crossing, the third and the fourth, and so on.
      float at = 0;
      int found = 0, columns[kMostCorners];
      for (int k = 0; k < polygons[p].count; k++) {
        if (!crosses(polygons[p], k, static_cast<float>(row) + 0.5f, at)) continue;
        const float column = at - 0.5f;
        int first = column <= 0 ? 0 : column >= static_cast<float>(n) ? n : static_cast<int>(column);
        while (first < n && static_cast<float>(first) + 0.5f < at) first++;
        int place = found++;
        for (; place > 0 && columns[place - 1] > first; place--) columns[place] = columns[place - 1];
        columns[place] = first;
      }
      for (int k = 0; k + 1 < found; k += 2)
        for (int i = columns[k]; i < columns[k + 1]; i++) level[i] *= 1 - polygons[p].darkness;
    }
    for (int i = 0; i < n; i++) level[i] = 1 - level[i];
  }
  static constexpr int kMostCorners = 16;
};

// Disks of light, each of which takes its share of what others leave. The share falls from the middle to the edge by a
// power: 0 is an even disk.
struct DiskField {
  static constexpr const char* header = "ops/effects/fields.h";
  struct Disk {
    float x, y, radius, share;
    int power;
  };
  const Disk* disks;
  int count;

  AVIDA_HD AVIDA_INLINE static float left_by(const Disk& disk, float dx, float dy) {
    const float distance = math::sqrt(dx * dx + dy * dy), rest = share_of_one(1 - distance / disk.radius);
    float share = distance < disk.radius ? disk.share : 0;
    for (int k = 0; k < disk.power; k++) share *= rest;
    return 1 - share;
  }
  AVIDA_HD AVIDA_INLINE float operator()(int column, int row) const {
    float left = 1;
    for (int k = 0; k < count; k++)
      left *= left_by(disks[k], static_cast<float>(column) + 0.5f - disks[k].x,
                      static_cast<float>(row) + 0.5f - disks[k].y);
    return 1 - left;
  }
  AVIDA_HD AVIDA_INLINE void row(float* level, int n, int row) const {
    for (int i = 0; i < n; i++) level[i] = 1;
    for (int k = 0; k < count; k++) {
      const Disk disk = disks[k];
      const float dy = static_cast<float>(row) + 0.5f - disk.y;
      if (dy >= disk.radius || -dy >= disk.radius) continue;
      const float begin = disk.x - disk.radius - 1, end = disk.x + disk.radius + 1;
      const int first = begin > 0 ? (begin < static_cast<float>(n) ? static_cast<int>(begin) : n) : 0;
      const int last = end < static_cast<float>(n) ? (end > 0 ? static_cast<int>(end) : 0) : n;
      for (int i = first; i < last; i++) level[i] *= left_by(disk, static_cast<float>(i) + 0.5f - disk.x, dy);
    }
    for (int i = 0; i < n; i++) level[i] = 1 - level[i];
  }
};

// Streaks that lean to one side, blurred as by a box: levels are shares of the box that they cover.
struct StreakField {
  static constexpr const char* header = "ops/effects/fields.h";
  static constexpr int kStrip = 16;  // rows, each with a list of the streaks in it
  static constexpr int kVector = 16;
  const float *x, *y;           // where each streak begins
  const int *begins, *streaks;  // for each strip the first of its streaks in the list, and one behind the last
  float slope, length, width;   // slope: columns for a row
  float half_blur, per_blur;    // of the box

  // The share of a box around `at` that lies in [0, extent].
  AVIDA_HD AVIDA_INLINE static float covered(float at, float extent, float half_blur, float per_blur) {
    const float low = at - half_blur, high = at + half_blur;
    const float from = low > 0 ? low : 0, to = high < extent ? high : extent, part = (to - from) * per_blur;
    return part > 0 ? part : 0;
  }
  AVIDA_HD AVIDA_INLINE float along(int streak, int row) const {
    return covered(static_cast<float>(row) + 0.5f - y[streak], length, half_blur, per_blur);
  }
  // The left end of a streak in a row.
  AVIDA_HD AVIDA_INLINE float left(int streak, int row) const {
    return x[streak] + (static_cast<float>(row) + 0.5f - y[streak]) * slope;
  }
  AVIDA_HD AVIDA_INLINE float operator()(int column, int row) const {
    float level = 0;
    for (int k = begins[row / kStrip]; k < begins[row / kStrip + 1]; k++)
      level += along(streaks[k], row) *
               covered(static_cast<float>(column) + 0.5f - left(streaks[k], row), width, half_blur, per_blur);
    return level < 1 ? level : 1;
  }
  AVIDA_HD AVIDA_INLINE void row(float* __restrict level, int n, int row) const {
    const float extent = width, half = half_blur, inverse = per_blur;
    for (int i = 0; i < n; i++) level[i] = 0;
    for (int k = begins[row / kStrip]; k < begins[row / kStrip + 1]; k++) {
      const float share = along(streaks[k], row), start = left(streaks[k], row);
      const float begin = start - half_blur - 1, end = start + width + half_blur + 1;
      int first = begin > 0 ? (begin < static_cast<float>(n) ? static_cast<int>(begin) : n) : 0;
      const int last = end < static_cast<float>(n) ? (end > 0 ? static_cast<int>(end) : 0) : n;
      // Whole vectors, of which some elements may get nothing.
      const int whole = (last - first + kVector - 1) / kVector * kVector;
      if (whole > n) {
        for (int i = first; i < last; i++)
          level[i] += share * covered(static_cast<float>(i) + 0.5f - start, extent, half, inverse);
        continue;
      }
      for (first = first + whole > n ? n - whole : first; first < last; first += kVector)
        for (int i = 0; i < kVector; i++)
          level[first + i] += share * covered(static_cast<float>(first + i) + 0.5f - start, extent, half, inverse);
    }
    for (int i = 0; i < n; i++) level[i] = level[i] < 1 ? level[i] : 1;
  }
};

// Smooth noise: cubic B-splines between nodes that lie kStep pixels apart; one node lies before the image, two behind
// it. What is made of it is within 0 and 1.
struct NoiseField {
  static constexpr const char* header = "ops/effects/fields.h";
  static constexpr int kStep = 4;
  const float* nodes;
  int columns;
  float slope, offset;

  struct Weights {
    float at[4];
    AVIDA_HD AVIDA_INLINE explicit Weights(int phase) {
      const float t = (static_cast<float>(phase) + 0.5f) * (1.0f / kStep), s = 1 - t;
      at[0] = s * s * s * (1.0f / 6);
      at[1] = (4 + t * t * (3 * t - 6)) * (1.0f / 6);
      at[2] = (4 + s * s * (3 * s - 6)) * (1.0f / 6);
      at[3] = t * t * t * (1.0f / 6);
    }
    AVIDA_HD AVIDA_INLINE float operator()(const float* from, long step) const {
      return from[0] * at[0] + from[step] * at[1] + from[2 * step] * at[2] + from[3 * step] * at[3];
    }
  };

  AVIDA_HD AVIDA_INLINE float level_of(float noise) const { return share_of_one(noise * slope + offset); }
  AVIDA_HD AVIDA_INLINE float operator()(int column, int row) const {
    const Weights down(row % kStep), across(column % kStep);
    const float* at = nodes + static_cast<long>(row / kStep) * columns + column / kStep;
    const float line[4] = {down(at, columns), down(at + 1, columns), down(at + 2, columns), down(at + 3, columns)};
    return level_of(across(line, 1));
  }
  AVIDA_HD AVIDA_INLINE void row(float* level, int n, int row) const {
    const Weights down(row % kStep);
    const float* at = nodes + static_cast<long>(row / kStep) * columns;
    constexpr int kCells = 64;  // a line of nodes at a time
    float line[kCells + 3];
    for (int first = 0; first * kStep < n; first += kCells) {
      const int left = columns - 3 - first, cells = left < kCells ? left : kCells;
      for (int i = 0; i < cells + 3; i++) line[i] = down(at + first + i, columns);
      for (int phase = 0; phase < kStep; phase++) {
        const Weights across(phase);
        const int end = (n - first * kStep - phase + kStep - 1) / kStep, count = end < cells ? end : cells;
        for (int i = 0; i < count; i++) level[(first + i) * kStep + phase] = level_of(across(line + i, 1));
      }
    }
  }
};

}  // namespace avida::ops
