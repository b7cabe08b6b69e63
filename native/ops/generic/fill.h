// What zeros, ones, full and their _like forms share.
#pragma once
#include "loops/elementwise/broadcast.h"
#include "operator/declare.h"

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
void infer_from_shape(Infer<FillArgs>& call, int ndim_without_shape = 0);
void shape_from_args(Sample<FillArgs>& sample);

template <class Args>
int64_t count_filled_rows(const Sample<Args>& sample) {
  return filled_rows(sample.out[0]);
}

// Declares an operator that makes samples of a given shape, all of one number.
template <int number>
void declare_constant(Op<FillArgs>& op) {
  op.arg("dtype", &FillArgs::dtype, "The element type.")
      .arg("layout", &FillArgs::layout, "One letter per axis.")
      .arg("shape", &FillArgs::shape, "The extents of the axes; a single number without them.")
      .infer([](Infer<FillArgs>& call) {
        call.out[0].dtype = call.args.dtype;
        infer_from_shape(call);
      })
      .each_sample(shape_from_args, [](const Sample<FillArgs>& sample) { fill(sample, number); })
      .rows(count_filled_rows);
}

// Declares an operator that makes samples of the input's shape, all of one number.
template <int number>
void declare_constant_like(Op<FillLikeArgs>& op) {
  op.input("data_like", "The samples whose shape, element type and layout to take.")
      .arg("dtype", &FillLikeArgs::dtype, "The element type, when another is wanted.")
      .infer([](Infer<FillLikeArgs>& call) { call.out[0].dtype = call.args.dtype.value_or(call.in[0].dtype); })
      .each_sample(same_shape, [](const Sample<FillLikeArgs>& sample) { fill(sample, number); })
      .rows(count_filled_rows);
}

}  // namespace avida::ops
