// Moves elements between two arrays of one shape and any strides: what transposing, slicing and joining come down to.
#pragma once
#include "core/shape.h"

namespace avida {

class Launches;

class StridedCopy {
 public:
  struct Axis {
    int64_t extent, out, in;  // strides in bytes
  };
  // Copies blocks of `block` bytes along two axes.
  using Tile = void (*)(char* out, const char* in, const Axis& slow, const Axis& fast, int64_t block);

  // Strides are in elements; those of `in` may be negative. It is fastest when the strides of `out` fall from axis to
  // axis, as those of a dense array do.
  StridedCopy(int element_size, const Shape& shape, const Shape& out_strides, const Shape& in_strides);

  // Into a dense array.
  StridedCopy(int element_size, const Shape& shape, const Shape& in_strides)
      : StridedCopy(element_size, shape, dense_strides(shape), in_strides) {}

  // The work has this many independent parts, of some kilobytes each where the shape allows.
  int64_t rows() const { return rows_; }
  // Does the parts [begin, end). `out` and `in` point to the elements of index 0, 0, ...
  void run(void* out, const void* in, int64_t begin, int64_t end) const;
  void run(void* out, const void* in) const { run(out, in, 0, rows_); }
  // All of them, on a GPU.
  void launch(Launches& launches, void* out, const void* in) const;
  // What the work of a sample asks for: some parts, or all on a GPU.
  template <class Work>
  void run(const Work& work, void* out, const void* in) const {
    if (work.launches)
      launch(*work.launches, out, in);
    else
      run(out, in, work.begin, work.end);
  }

 private:
  void choose_tiles();

  // After adjacent axes are merged and contiguous elements gathered into blocks, the two axes `slow_` and `fast_` are
  // cut into tiles; a part is one tile at one place of the other axes.
  Axis outer_[kMaxDim];
  int outer_axes_ = 0;
  Axis slow_{1, 0, 0}, fast_{1, 0, 0};
  int64_t element_size_;
  int64_t block_;  // bytes that lie side by side in both arrays
  int64_t slow_step_ = 1, fast_step_ = 1, slow_tiles_ = 1, fast_tiles_ = 1;
  int64_t rows_ = 0;
  Tile tile_ = nullptr;  // null: everything is one block
};

}  // namespace avida
