// Samples converted to another element type on either device: the plan of operators that do nothing else.
#pragma once
#include "operator/sample.h"

namespace avida {

// The output is the first input, converted by rounding half away from zero. See Op::each_sample.
class ElementConversion {
 public:
  template <class Work>
  explicit ElementConversion(const Work& work) : shape_(work.in[0].shape) {}

  const Shape& shape() const { return shape_; }
  int64_t rows() const { return (volume(shape_) + kRow - 1) / kRow; }
  template <class Work>
  void run(const Work& work) const {
    run(work.out[0], work.in[0], work.begin * kRow, work.end * kRow, work.launches);
  }

 private:
  static constexpr int64_t kRow = 8 << 10;  // elements that one thread converts at a time
  static void run(const SampleView& out, const SampleView& in, int64_t begin, int64_t end, Launches* launches);

  Shape shape_;
};

}  // namespace avida
