// The maps of elastic, grid_distortion and optical_distortion.
#pragma once
#include "loops/warping/warp_map.h"

namespace avida::ops {

// Moves by cubic B-splines between the nodes of a grid, which lie `1 / per_pixel` pixels apart.
struct Elastic {
  static constexpr const char* header = "ops/augment/distortions.h";
  static constexpr int dims = 2;
  const float* nodes;  // the moves along x, then those along y
  int rows, columns;
  float per_pixel;

  // The cubic between two nodes along one axis.
  struct Cubic {
    float c[4];
    AVIDA_HD AVIDA_INLINE Cubic(float before, float first, float second, float after) {
      c[0] = (before + 4 * first + second) * (1.0f / 6);
      c[1] = (second - before) * 0.5f;
      c[2] = (before - 2 * first + second) * 0.5f;
      c[3] = (after - before + 3 * (first - second)) * (1.0f / 6);
    }
    AVIDA_HD AVIDA_INLINE float operator()(float t) const { return c[0] + t * (c[1] + t * (c[2] + t * c[3])); }
  };

  AVIDA_HD AVIDA_INLINE int node_before(float centre) const { return static_cast<int>(centre * per_pixel); }
  AVIDA_HD AVIDA_INLINE float share(float centre, int node) const {
    return centre * per_pixel - static_cast<float>(node);
  }
  // Between the nodes of a column, at a row.
  AVIDA_HD AVIDA_INLINE float down(int axis, int column, int row, float t) const {
    const float* at = nodes + (axis * rows + row) * columns + column;
    return Cubic(at[0], at[columns], at[2 * columns], at[3 * columns])(t);
  }
  AVIDA_HD AVIDA_INLINE Cubic across(int axis, int column, int row, float t) const {
    return Cubic(down(axis, column, row, t), down(axis, column + 1, row, t), down(axis, column + 2, row, t),
                 down(axis, column + 3, row, t));
  }

  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    const int column = node_before(centre[0]), row = node_before(centre[1]);
    const float along = share(centre[0], column), t = share(centre[1], row);
    return {{centre[0] + across(0, column, row, t)(along), centre[1] + across(1, column, row, t)(along)}};
  }
  // n pixels of a row at once, many of which lie between the same nodes.
  AVIDA_HD AVIDA_INLINE void row(float* to_x, float* to_y, int n, int x, int y) const {
    const float line = static_cast<float>(y) + 0.5f;
    const int node = node_before(line);
    const float t = share(line, node);
    for (int i = 0; i < n;) {
      const int column = node_before(static_cast<float>(x + i) + 0.5f);
      const Cubic right = across(0, column, node, t), lower = across(1, column, node, t);
      for (; i < n; i++) {
        const float centre = static_cast<float>(x + i) + 0.5f;
        if (node_before(centre) != column) break;
        const float along = share(centre, column);
        to_x[i] = centre + right(along);
        to_y[i] = line + lower(along);
      }
    }
  }
};

// Columns and rows come from given places.
struct GridDistortion {
  static constexpr const char* header = "ops/augment/distortions.h";
  static constexpr int dims = 2;
  const float *x, *y;  // for each column and each row of the output

  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    return {{x[static_cast<unsigned>(centre[0])], y[static_cast<unsigned>(centre[1])]}};
  }
  AVIDA_HD AVIDA_INLINE void row(float* to_x, float* to_y, int n, int column, int line) const {
    for (int i = 0; i < n; i++) {
      to_x[i] = x[column + i];
      to_y[i] = y[line];
    }
  }
};

// A lens whose power changes with the distance from the middle.
struct OpticalDistortion {
  static constexpr const char* header = "ops/augment/distortions.h";
  static constexpr int dims = 2;
  Place<2> middle;
  float per_width, per_height, k;

  AVIDA_HD AVIDA_INLINE Place<2> operator()(const Place<2>& centre) const {
    const float x = centre[0] - middle[0], y = centre[1] - middle[1];
    const float u = x * per_width, v = y * per_height, square = u * u + v * v;
    const float factor = 1 + square * (k + square * k);
    return {{middle[0] + x * factor, middle[1] + y * factor}};
  }
};

}  // namespace avida::ops
