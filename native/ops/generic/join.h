// Concatenation of samples along an axis: the arguments and the plan of cat and stack.
#pragma once
#include "loops/moving/strided_move.h"
#include "operator/declare.h"

namespace avida::ops {

struct JoinArgs {
  std::optional<int> axis;
  std::optional<std::string> axis_name;
};

// Raises unless all inputs have one element type and number of axes.
inline void check_alike(std::span<const Meta> in) {
  for (size_t k = 1; k < in.size(); k++) {
    if (in[k].dtype != in[0].dtype)
      refuse("the inputs must have one data type, got ", in[0].dtype, " and ", in[k].dtype);
    if (in[k].ndim != in[0].ndim)
      refuse("the inputs must have the same number of axes, got ", in[0].ndim, " and ", in[k].ndim);
  }
}

inline char axis_letter(const std::string& name) {
  if (name.size() != 1) refuse("expected one letter as \"axis_name\", got \"", name, '"');
  return name[0];
}

// Moves each input to its offset along an axis of the output; extent_of(shape of the output, axis, input) is the
// input's extent along that axis.
template <int64_t (*extent_of)(const Shape& shape, int axis, const SampleView& in)>
class JoinPlan {
 public:
  const Shape& shape() const { return shape_; }
  int64_t rows(const Sample<JoinArgs>& sample) const {
    int64_t rows = 0;
    each_move(sample.in, [&](const SampleView&, const StridedMove& move, int64_t) { rows += move.rows(); });
    return rows;
  }
  void run(const Sample<JoinArgs>& sample) const {
    int64_t first = 0;
    each_move(sample.in, [&](const SampleView& in, const StridedMove& move, int64_t offset) {
      move.run(sample, sample.out[0].as<char>() + offset, in.data, first);
      first += move.rows();
    });
  }

 protected:
  // Of `shape`, the extent along the axis becomes that of all inputs together.
  void join(std::span<const SampleView> in, int axis, const Shape& shape) {
    axis_ = axis;
    shape_ = shape;
    shape_[axis] = 0;
    for (auto& each : in) shape_[axis] += extent_of(shape, axis, each);
  }

 private:
  // Calls fn(input, its move, its offset in the output in bytes) for each input.
  template <class Fn>
  void each_move(std::span<const SampleView> inputs, Fn fn) const {
    const int64_t before = volume(shape_.span().first(axis_));
    const int64_t step = volume(shape_.span().subspan(axis_ + 1)) * size_of(inputs[0].dtype);
    int64_t offset = 0;
    for (auto& in : inputs) {
      const int64_t bytes = extent_of(shape_, axis_, in) * step;
      fn(in, StridedMove(1, {before, bytes}, {shape_[axis_] * step, 1}, {bytes, 1}), offset);
      offset += bytes;
    }
  }

  Shape shape_;
  int axis_ = 0;
};

}  // namespace avida::ops
