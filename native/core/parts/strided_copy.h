// Copies elements between two arrays of one shape and any strides: transposing, slicing, mirroring and joining.
#pragma once
#include "core/shape.h"

namespace avida {

class StridedCopy {
 public:
  struct Axis {
    int64_t extent, out, in;  // strides in bytes
  };
  // Copies blocks of `block` bytes along two axes.
  using Tile = void (*)(char* out, const char* in, const Axis& slow, const Axis& fast, int64_t block);

  // Strides are in elements; those of `in` may be negative. It is fastest if the strides of `out` decrease from axis to
  // axis, as those of a dense array do.
  StridedCopy(int element_size, const Shape& shape, const Shape& out_strides, const Shape& in_strides);

  // Into a dense array.
  StridedCopy(int element_size, const Shape& shape, const Shape& in_strides)
      : StridedCopy(element_size, shape, dense_strides(shape), in_strides) {}

  // The number of independent parts of the work, of a few kilobytes each if the shape allows.
  int64_t rows() const { return rows_; }
  // Copies the parts [begin, end). `out` and `in` point to the elements with index 0, 0, ...
  void run(void* out, const void* in, int64_t begin, int64_t end) const;
  void run(void* out, const void* in) const { run(out, in, 0, rows_); }

 protected:
  // After adjacent axes are merged and contiguous elements gathered into blocks, the two axes `slow_` and `fast_` are
  // cut into tiles; a part is one tile at one index of the other axes.
  Axis outer_[kMaxDim];
  int outer_axes_ = 0;
  Axis slow_{1, 0, 0}, fast_{1, 0, 0};
  int64_t element_size_;
  int64_t block_;  // bytes that are contiguous in both arrays
  int64_t slow_step_ = 1, fast_step_ = 1, slow_tiles_ = 1, fast_tiles_ = 1;
  int64_t rows_ = 0;
  Tile tile_ = nullptr;  // null if everything is one block

 private:
  void choose_tiles();
};

}  // namespace avida
