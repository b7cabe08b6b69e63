// An argument that is a matrix: a nested list, an array for each sample, a flat list, or one number.
#pragma once
#include "arguments/traits.h"

namespace avida {

struct Matrix {
  Shape shape = {};  // of what was given; empty for one number
  std::vector<float> numbers;

  bool empty() const { return numbers.empty(); }
};

// The numbers of an input that holds a matrix.
inline Matrix matrix_of(const void* data, const Shape& shape, DType dtype) {
  Matrix matrix{shape, {}};
  for (int64_t i = 0; i < volume(shape); i++) matrix.numbers.push_back(arg::element<float>(data, dtype, i));
  return matrix;
}

template <>
struct arg::Traits<Matrix> {
  static constexpr ArgType type = ArgType::reals;
  static void assign(Matrix& member, const ArgValue& value) {
    ListTraits<std::vector<float>, float>::assign(member.numbers, value);
    bool is_list =
        std::holds_alternative<std::vector<double>>(value) || std::holds_alternative<std::vector<int64_t>>(value);
    member.shape = is_list ? Shape{std::ssize(member.numbers)} : Shape{};
  }
  static void from_sample(Matrix& member, const void* data, const Shape& shape, DType dtype) {
    if (shape.size() > 2) refuse("expected a matrix per sample, got the shape ", shape);
    member = matrix_of(data, shape, dtype);
  }
  static std::string text(const Matrix&) { return "[]"; }
};

}  // namespace avida
