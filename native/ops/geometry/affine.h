// Affine maps from the matrices, angles and axes that users give.
#pragma once
#include <cmath>

#include "loops/warping/warp_map.h"
#include "ops/geometry/matrix_arg.h"

namespace avida::ops {

// The inverse of a matrix, by Gauss-Jordan elimination; raises where there is none.
template <int N>
void invert(const double (&matrix)[N][N], double (&inverse)[N][N]) {
  double m[N][2 * N] = {};
  for (int r = 0; r < N; r++) {
    for (int c = 0; c < N; c++) m[r][c] = matrix[r][c];
    m[r][N + r] = 1;
  }
  for (int k = 0; k < N; k++) {
    int pivot = k;
    for (int r = k + 1; r < N; r++)
      if (std::fabs(m[r][k]) > std::fabs(m[pivot][k])) pivot = r;
    double divisor = m[pivot][k];
    if (!(std::fabs(divisor) > 1e-30) || !std::isfinite(divisor)) value_error("expected a matrix that can be inverted");
    for (int c = 0; c < 2 * N; c++) std::swap(m[k][c], m[pivot][c]);
    for (int c = 0; c < 2 * N; c++) m[k][c] /= divisor;
    for (int r = 0; r < N; r++) {
      if (r == k) continue;
      double factor = m[r][k];
      for (int c = 0; c < 2 * N; c++) m[r][c] -= factor * m[k][c];
    }
  }
  for (int r = 0; r < N; r++)
    for (int c = 0; c < N; c++) inverse[r][c] = m[r][N + c];
}

// Raises unless a matrix has this shape, or the same count of numbers in a flat list.
inline void check_matrix(const Matrix& matrix, int64_t rows, int64_t columns) {
  if (matrix.shape != Shape{rows, columns} && matrix.shape != Shape{rows * columns})
    refuse("expected a matrix of ", rows, " by ", columns, " numbers, got the shape ", matrix.shape);
}

// The matrix of a sample: its second input, if there is one, else the argument.
template <class Sample>
Matrix given_matrix(const Sample& sample) {
  const auto& input = sample.in[1];
  return input.data ? matrix_of(input.data, input.shape, input.dtype) : sample.args.matrix;
}

template <int N>
Affine<N> affine_of(const Matrix& matrix) {
  check_matrix(matrix, N, N + 1);
  Affine<N> affine;
  for (int r = 0; r < N; r++)
    for (int c = 0; c <= N; c++) affine.m[r][c] = matrix.numbers[r * (N + 1) + c];
  return affine;
}

template <int N>
Affine<N> inverse_of(const Affine<N>& affine) {
  double m[N][N], inverse[N][N];
  for (int r = 0; r < N; r++)
    for (int c = 0; c < N; c++) m[r][c] = affine.m[r][c];
  invert(m, inverse);
  Affine<N> out;
  for (int r = 0; r < N; r++) {
    double shift = 0;
    for (int c = 0; c < N; c++) {
      out.m[r][c] = static_cast<float>(inverse[r][c]);
      shift -= inverse[r][c] * affine.m[c][N];
    }
    out.m[r][N] = static_cast<float>(shift);
  }
  return out;
}

// The rotation by an angle in degrees: of x and y, and around an axis.
inline void rotation(float degrees, double (&m)[3][3]) {
  float angle = static_cast<float>(degrees * (M_PI / 180));
  double c = std::cos(static_cast<double>(angle)), s = std::sin(static_cast<double>(angle));
  m[0][0] = m[1][1] = c;
  m[0][1] = -s;
  m[1][0] = s;
}
inline void rotation(float degrees, const Vec<float>& axis, double (&m)[3][3]) {
  if (axis.size() != 3) refuse("expected 3 numbers in \"axis\", got ", axis.size());
  double u[3] = {axis[0], axis[1], axis[2]}, length = std::sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
  if (!(length > 0 && std::isfinite(length))) value_error("expected an axis with a length");
  for (double& x : u) x /= length;
  rotation(degrees, m);
  double c = m[0][0], s = m[1][0];
  for (int r = 0; r < 3; r++)
    for (int k = 0; k < 3; k++) m[r][k] = u[r] * u[k] * (1 - c) + (r == k ? c : 0);
  for (int d = 0; d < 3; d++) {
    m[(d + 1) % 3][d] += s * u[(d + 2) % 3];
    m[d][(d + 1) % 3] -= s * u[(d + 2) % 3];
  }
}

}  // namespace avida::ops
