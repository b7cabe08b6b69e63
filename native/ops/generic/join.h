// Putting samples side by side along an axis, shared by cat and stack.
#pragma once
#include "op/op.h"
#include "op/strided_copy.h"

namespace avida::ops {

struct JoinArgs {
  std::optional<int> axis;
  std::optional<std::string> axis_name;
};

// Raises unless all inputs have one element type and number of axes.
inline void check_alike(std::span<const Meta> in) {
  for (size_t k = 1; k < in.size(); k++) {
    if (in[k].dtype != in[0].dtype)
      fail(ErrorKind::runtime, "the inputs must have one data type, got ", in[0].dtype, " and ", in[k].dtype);
    if (in[k].ndim != in[0].ndim)
      fail(ErrorKind::runtime, "the inputs must have the same number of axes, got ", in[0].ndim, " and ", in[k].ndim);
  }
}

inline char axis_letter(const std::string& name) {
  if (name.size() != 1) fail(ErrorKind::runtime, "expected one letter as \"axis_name\", got \"", name, '"');
  return name[0];
}

// The length of one input along the joined axis.
using PieceExtent = int64_t (*)(const Sample<JoinArgs>& sample, int axis, const SampleView& in);

// Calls fn(input, how to copy it, where it goes in the output in bytes) for each input.
template <class Fn>
void each_piece(const Sample<JoinArgs>& sample, int axis, PieceExtent extent_of, Fn fn) {
  const SampleView& out = sample.out[0];
  int64_t before = 1, step = size_of(out.dtype), offset = 0;
  for (int d = 0; d < axis; d++) before *= out.shape[d];
  for (int d = axis + 1; d < out.ndim(); d++) step *= out.shape[d];
  for (auto& in : sample.in) {
    int64_t bytes = extent_of(sample, axis, in) * step;
    fn(in, StridedCopy(1, {before, bytes}, {out.shape[axis] * step, 1}, {bytes, 1}), offset);
    offset += bytes;
  }
}

inline int64_t join_rows(const Sample<JoinArgs>& sample, int axis, PieceExtent extent_of) {
  int64_t rows = 0;
  each_piece(sample, axis, extent_of,
             [&](const SampleView&, const StridedCopy& copy, int64_t) { rows += copy.rows(); });
  return rows;
}

inline void join(const Sample<JoinArgs>& sample, int axis, PieceExtent extent_of) {
  int64_t first = 0;
  each_piece(sample, axis, extent_of, [&](const SampleView& in, const StridedCopy& copy, int64_t offset) {
    if (sample.launches) return copy.launch(*sample.launches, sample.out[0].as<char>() + offset, in.data);
    int64_t begin = std::max<int64_t>(sample.begin - first, 0), end = std::min(sample.end - first, copy.rows());
    copy.run(sample.out[0].as<char>() + offset, in.data, begin, end);
    first += copy.rows();
  });
}

}  // namespace avida::ops
