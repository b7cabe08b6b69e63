// Elements moved between arrays of any strides, on either device: the loop family of transposing, slicing and joining.
#pragma once
#include <algorithm>

#include "core/parts/strided_copy.h"

namespace avida {

class Launches;

class StridedMove : public StridedCopy {
 public:
  using StridedCopy::run;
  using StridedCopy::StridedCopy;

  // All parts, on a GPU.
  void launch(Launches& launches, void* out, const void* in) const;
  // What the work of a sample asks for: some parts, or all on a GPU. The parts of this move are those of the work from
  // `first` on.
  template <class Work>
  void run(const Work& work, void* out, const void* in, int64_t first = 0) const {
    if (work.launches)
      launch(*work.launches, out, in);
    else
      run(out, in, std::max<int64_t>(work.begin - first, 0), std::min(work.end - first, rows_));
  }
};

// Bytes that are contiguous in both arrays.
class DenseMove {
 public:
  explicit DenseMove(int64_t bytes) : bytes_(bytes) {}

  int64_t rows() const { return (bytes_ + kPart - 1) / kPart; }
  template <class Work>
  void run(const Work& work, void* out, const void* in) const {
    move(work.launches, out, in, work.begin * kPart, std::min(work.end * kPart, bytes_));
  }
  // All of it, for work whose rows are several moves.
  template <class Work>
  void run_whole(const Work& work, void* out, const void* in) const {
    move(work.launches, out, in, 0, bytes_);
  }

 private:
  static constexpr int64_t kPart = 64 << 10;  // bytes that one thread copies at a time
  void move(Launches* launches, void* out, const void* in, int64_t begin, int64_t end) const;

  int64_t bytes_;
};

}  // namespace avida
