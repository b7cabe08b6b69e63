// What zeros, ones, full and their _like forms share.
#pragma once
#include "op/op.h"

namespace avida::ops {

struct FillArgs {
  DType dtype = DType::int32;
  std::optional<Layout> layout;
  std::optional<Vec<int64_t>> shape;
};
struct FillLikeArgs {
  std::optional<DType> dtype;
};

// Rank and layout of an output that has `shape` and `layout` as arguments.
void infer_from_shape(Infer<FillArgs>& call);
void shape_from_args(Sample<FillArgs>& sample);

// A row is a stretch of the output.
constexpr int64_t kFillRow = 16 << 10;  // elements
inline int64_t fill_rows(const SampleView& out) { return (out.elements() + kFillRow - 1) / kFillRow; }

// Sets rows [begin, end) of the output to one number.
void fill_rows_with(const SampleView& out, int64_t begin, int64_t end, Launches* launches, int number);

// Whether `fill` can be repeated along the axes of `shape`, in the manner of NumPy. Of axes that are too many in front,
// the first entry counts.
void check_repeatable(const Shape& fill, const Shape& shape);
// Sets rows [begin, end) of the output to `fill`, repeated and converted.
void fill_rows_from(const SampleView& out, int64_t begin, int64_t end, Launches* launches, SampleView fill);

template <class Args>
int64_t count_fill_rows(const Sample<Args>& sample) {
  return fill_rows(sample.out[0]);
}

// Declares an operator that makes samples of a given shape, all of one number.
template <int Number>
void declare_constant(Op<FillArgs>& op) {
  op.arg("dtype", &FillArgs::dtype, "The element type.")
      .arg("layout", &FillArgs::layout, "One letter per axis.")
      .arg("shape", &FillArgs::shape, "The extents of the axes; a single number without them.")
      .infer([](Infer<FillArgs>& call) {
        call.out[0].dtype = call.args.dtype;
        infer_from_shape(call);
      })
      .each_sample(shape_from_args,
                   [](const Sample<FillArgs>& sample) {
                     fill_rows_with(sample.out[0], sample.begin, sample.end, sample.launches, Number);
                   })
      .rows(count_fill_rows)
      .on_gpu();
}

// Declares an operator that makes samples of the input's shape, all of one number.
template <int Number>
void declare_constant_like(Op<FillLikeArgs>& op) {
  op.input("data_like", "The samples whose shape, element type and layout to take.")
      .arg("dtype", &FillLikeArgs::dtype, "The element type, when another is wanted.")
      .infer([](Infer<FillLikeArgs>& call) { call.out[0].dtype = call.args.dtype.value_or(call.in[0].dtype); })
      .each_sample([](Sample<FillLikeArgs>& sample) { sample.out[0].shape = sample.in[0].shape; },
                   [](const Sample<FillLikeArgs>& sample) {
                     fill_rows_with(sample.out[0], sample.begin, sample.end, sample.launches, Number);
                   })
      .rows(count_fill_rows)
      .on_gpu();
}

}  // namespace avida::ops
