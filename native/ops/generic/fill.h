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
Shape shape_from_args(const FillArgs& args);

// For plans: the rows of their work.
struct FillPlan {
  template <class Args>
  static int64_t rows(const Sample<Args>& sample) {
    return filled_rows(sample.out[0]);
  }
};

template <int number>
struct ConstantPlan : FillPlan {
  static void shape(Sample<FillArgs>& sample) { sample.out[0].shape = shape_from_args(sample.args); }
  static void run(const Sample<FillArgs>& sample) { fill(sample, number); }
};
template <int number>
struct ConstantLikePlan : FillPlan {
  static void run(const Sample<FillLikeArgs>& sample) { fill(sample, number); }
};

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
      .template each_sample<ConstantPlan<number>>();
}

// Declares an operator that makes samples of the input's shape, all of one number.
template <int number>
void declare_constant_like(Op<FillLikeArgs>& op) {
  op.input("data_like", "The samples whose shape, element type and layout to take.")
      .arg("dtype", &FillLikeArgs::dtype, "The element type, when another is wanted.")
      .infer([](Infer<FillLikeArgs>& call) { call.out[0].dtype = call.args.dtype.value_or(call.in[0].dtype); })
      .template each_sample<ConstantLikePlan<number>>();
}

}  // namespace avida::ops
