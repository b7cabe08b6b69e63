// Shapes of samples. Every sample of a batch has the same number of axes, at most kMaxDim.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
#include <vector>

#include "core/error.h"

namespace avida {

constexpr int kMaxDim = 16;

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) {
    for (int64_t d : dims) push_back(d);
  }
  explicit Shape(std::span<const int64_t> dims) {
    for (int64_t d : dims) push_back(d);
  }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t& operator[](int i) { return dims_[i]; }
  int64_t operator[](int i) const { return dims_[i]; }
  const int64_t* begin() const { return dims_.data(); }
  const int64_t* end() const { return dims_.data() + size_; }
  int64_t* begin() { return dims_.data(); }
  int64_t* end() { return dims_.data() + size_; }
  std::span<const int64_t> span() const { return {dims_.data(), static_cast<size_t>(size_)}; }

  void push_back(int64_t d) {
    if (size_ == kMaxDim) value_error("a sample can have at most ", kMaxDim, " axes");
    dims_[size_++] = d;
  }
  void insert(int at, int64_t d) {
    push_back(d);
    for (int i = size_ - 1; i > at; i--) dims_[i] = dims_[i - 1];
    dims_[at] = d;
  }
  void resize(int n, int64_t fill) {
    while (size_ < n) push_back(fill);
    size_ = n;
  }
  bool operator==(const Shape& other) const {
    if (size_ != other.size_) return false;
    for (int i = 0; i < size_; i++)
      if (dims_[i] != other.dims_[i]) return false;
    return true;
  }

 private:
  int size_ = 0;
  std::array<int64_t, kMaxDim> dims_;
};

inline int64_t volume(std::span<const int64_t> dims) {
  int64_t v = 1;
  for (int64_t d : dims) v *= d;
  return v;
}
inline int64_t volume(const Shape& shape) { return volume(shape.span()); }

std::ostream& operator<<(std::ostream& out, const Shape& shape);

// The volume; throws for negative extents and for products that exceed any memory.
int64_t checked_volume(const Shape& shape);

// Strides of a C-ordered array, in elements.
Shape dense_strides(const Shape& shape);

// The shapes of all samples of a batch; a uniform batch allocates nothing.
class ShapeList {
 public:
  ShapeList() = default;
  ShapeList(int samples, int ndim) : samples_(samples) { common_.resize(ndim, 0); }
  ShapeList(int samples, const Shape& shape) : samples_(samples), common_(shape) {}

  int samples() const { return samples_; }
  int ndim() const { return common_.size(); }
  std::span<const int64_t> dims(int i) const {
    size_t n = static_cast<size_t>(ndim());
    return each_.empty() ? common_.span() : std::span(each_.data() + i * n, n);
  }
  Shape operator[](int i) const { return each_.empty() ? common_ : Shape(dims(i)); }
  // Samples are set in order, from the first to the last.
  void set(int i, const Shape& shape);
  bool uniform() const;

 private:
  int samples_ = 0;
  Shape common_;
  std::vector<int64_t> each_;  // flattened; empty if all are equal to common_
};

}  // namespace avida
