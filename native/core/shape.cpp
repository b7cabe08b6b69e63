#include "core/shape.h"

#include <algorithm>

namespace avida {

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (int i = 0; i < shape.size(); i++) out << (i ? ", " : "") << shape[i];
  return out << (shape.size() == 1 ? ",)" : ")");
}

int64_t checked_volume(const Shape& shape) {
  int64_t v = 1;  // the product of the extents that are not 0: strides are products of them
  bool zero = false;
  for (int64_t d : shape) {
    if (d < 0) value_error("the shape ", shape, " has a negative extent");
    zero |= d == 0;
    if (d != 0 && __builtin_mul_overflow(v, d, &v)) value_error("the shape ", shape, " is too large");
  }
  constexpr int64_t kMost = int64_t(1) << 56;  // leaves room for the element size
  if (v > kMost) value_error("the shape ", shape, " is too large");
  return zero ? 0 : v;
}

Shape dense_strides(const Shape& shape) {
  Shape strides;
  strides.resize(shape.size(), 1);
  for (int i = shape.size() - 2; i >= 0; i--) strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

void ShapeList::set(int i, const Shape& shape) {
  if (shape.size() != ndim())
    refuse("samples of one batch must have the same number of axes, expected ", ndim(), ", got the shape ", shape);
  if (i == 0 && each_.empty()) {
    common_ = shape;
    return;
  }
  if (each_.empty()) {
    if (shape == common_) return;
    each_.reserve(static_cast<size_t>(samples_) * ndim());
    for (int k = 0; k < samples_; k++) each_.insert(each_.end(), common_.begin(), common_.end());
  }
  std::copy(shape.begin(), shape.end(), each_.begin() + static_cast<ptrdiff_t>(i) * ndim());
}

bool ShapeList::uniform() const {
  if (each_.empty()) return true;
  for (int i = 1; i < samples_; i++)
    if (!std::equal(dims(0).begin(), dims(0).end(), dims(i).begin())) return false;
  return true;
}

}  // namespace avida
