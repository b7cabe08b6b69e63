// Colours as linear functions of colours: the bodies of most operators here.
#pragma once
#include "device/math.h"
#include "device/pixel.h"

namespace avida::ops {

// out = factor * in + addend
struct Scaling {
  float factor, addend;
};

struct Scale {
  static constexpr const char* header = "ops/color/color_matrix.h";
  static constexpr int in = 1, out = 1;
  template <class Number>
  AVIDA_HD AVIDA_INLINE static Pixel<1, Number> run(const Pixel<1, Number>& x, const Scaling& by) {
    return {{x[0] * by.factor + by.addend}};
  }
};

template <int Out, int In>
struct ColorMatrix {
  float factor[Out][In], addend[Out];
};

// Three channels that are the same.
struct GrayOfThree {
  static constexpr const char* header = "ops/color/color_matrix.h";
  static constexpr int in = 3, out = 3;
  struct Weights {
    float of[3];
  };
  template <class Number>
  AVIDA_HD AVIDA_INLINE static Pixel<3, Number> run(const Pixel<3, Number>& x, const Weights& weights) {
    const Number gray = weights.of[0] * x[0] + weights.of[1] * x[1] + weights.of[2] * x[2] + 0.0f;  // no negative zero
    return {{gray, gray, gray}};
  }
  AVIDA_HD static float most(const Weights&, float channel) { return channel + 1; }
};

template <int Out, int In, bool adds = true>
struct Recolor {
  static constexpr const char* header = "ops/color/color_matrix.h";
  static constexpr int in = In, out = Out;
  using Matrix = ColorMatrix<Out, In>;
  template <class Number>
  AVIDA_HD AVIDA_INLINE static Pixel<Out, Number> run(const Pixel<In, Number>& x, const Matrix& matrix) {
    Pixel<Out, Number> y;
    for (int i = 0; i < Out; i++) {
      y[i] = matrix.factor[i][0] * x[0];
      for (int k = 1; k < In; k++) y[i] += matrix.factor[i][k] * x[k];
      if constexpr (adds) y[i] += matrix.addend[i];
    }
    return y;
  }

  // What no result exceeds, whatever its sign, if no channel exceeds `channel`.
  AVIDA_HD static float most(const Matrix& matrix, float channel) {
    float sum = 0;
    for (int i = 0; i < Out; i++) {
      for (int k = 0; k < In; k++) sum += math::fabs(matrix.factor[i][k]) * channel;
      sum += math::fabs(matrix.addend[i]);
    }
    return sum;
  }
  // Makes the same bytes of a matrix without addends.
  using Shorter = Recolor<Out, In, false>;
  AVIDA_HD static bool has_shorter(const Matrix& matrix) {
    for (float addend : matrix.addend)
      if (addend != 0) return false;
    return true;
  }
};

// Turns the hue by an angle in degrees and multiplies the saturation: in the space YIQ, where Y is the brightness and
// colours lie in a plane around it.
AVIDA_HD inline ColorMatrix<3, 3> twist_matrix(float hue, float saturation, float factor, float addend) {
  constexpr double to_yiq[3][3] = {{.299, .587, .114}, {.596, -.274, -.321}, {.211, -.523, .311}};
  double angle = hue * (3.14159265358979323846 / 180);
  double s = math::sin(angle) * saturation, c = math::cos(angle) * saturation;
  const double turn[3][3] = {{1, 0, 0}, {0, c, s}, {0, -s, c}};
  // The inverse of to_yiq: its cofactors, divided by its determinant.
  double from_yiq[3][3], determinant = 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      int a = (k + 1) % 3, b = (k + 2) % 3, p = (i + 1) % 3, q = (i + 2) % 3;
      from_yiq[i][k] = to_yiq[a][p] * to_yiq[b][q] - to_yiq[a][q] * to_yiq[b][p];
    }
  for (int k = 0; k < 3; k++) determinant += to_yiq[0][k] * from_yiq[k][0];
  ColorMatrix<3, 3> matrix;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 3; k++) {
      double sum = 0;
      for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++) sum += from_yiq[i][p] * turn[p][q] * to_yiq[q][k];
      matrix.factor[i][k] = static_cast<float>(sum / determinant * factor);
    }
    matrix.addend[i] = addend;
  }
  return matrix;
}

}  // namespace avida::ops
