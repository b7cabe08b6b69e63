// The family of operators that reduce each sample along chosen axes.
// An operator gives
//
//   struct Sum {
//     template <class T> using Fold = AddUp<T>;  // how elements of type T are gathered, see ops/reductions/fold.h
//     template <class Out, class Total> static constexpr bool gives;  // which types of results there are
//     template <class Total> AVIDA_HD static Total join(Total a, Total b);
//     template <class Out, class Total> AVIDA_HD static Out result(Total total, long count, int ddof);
//   };
//
// Outputs are made in groups of up to kGroup neighbours. What each of them folds is cut into pieces of about kPiece
// elements; where there are few groups, blocks of pieces go to different threads. All cuts follow from the shape alone,
// so that the order of additions, and with it the result, is the same for any number of threads.
#pragma once
#include <algorithm>
#include <optional>

#include "loops/reducing/reduce_item.h"
#include "operator/declare.h"
#include "operator/launches.h"

namespace avida {

struct ReduceArgs {
  std::optional<Vec<int>> axes;
  std::optional<Layout> axis_names;
  bool keep_dims = false;
  int ddof = 0;
  DType dtype = DType::none;
};

namespace reduction {

constexpr int64_t kGroup = 256;
constexpr int64_t kPiece = 1 << 16;  // what partial sums in ops/reductions/fold.h can hold
constexpr int64_t kLanes = 32;       // sums that one run is dealt out to, for the sake of vector instructions
constexpr int64_t kMostBlocks = 64;

// The axes of one sample, adjacent ones of a kind merged. The innermost ones are a run to fold ([..., run]), or rows
// of columns to keep ([..., run, width]).
struct Plan {
  int64_t outputs = 1;  // of the sample
  int64_t count = 1;    // elements that each of them folds
  int64_t run = 1, width = 1;
  bool columns = false;
  Shape kept, kept_strides, folded, folded_strides;  // further out
  int64_t piece = 1;                                 // length of a piece, along the run
  int64_t chunks = 0;                                // pieces that a run is cut into
  int64_t pieces = 0, groups = 0, blocks = 1;

  Plan(const Shape& shape, unsigned axes);
  int64_t groups_per_row() const { return (width + kGroup - 1) / kGroup; }
  int64_t first_output(int64_t group) const {
    return columns ? group / groups_per_row() * width + group % groups_per_row() * kGroup : group * kGroup;
  }
  int64_t outputs_of(int64_t group) const {
    return std::min(kGroup, columns ? width - group % groups_per_row() * kGroup : outputs - group * kGroup);
  }
};

// How the elements of one type are gathered, for loops that do not know the types.
struct Folding {
  int64_t total_bytes;
  bool centered;  // around a mean
  // The totals of one group over pieces [begin, end) of what its outputs fold.
  void (*fold)(const Plan& plan, const void* in, int64_t group, int64_t begin, int64_t end, const double* centers,
               void* totals);
  void (*join)(void* totals, const void* others, int64_t n);
  void (*launch)(Launches& launches, int64_t items, const FoldParams& params);
  // Parts of rows, and a launch for them; null for types whose rows are launched as the others.
  int64_t (*parts_of_row)(int64_t elements, unsigned width);
  void (*launch_rows)(Launches& launches, int64_t items, const FoldRowsParams& params);
};
// loops/reducing/fold_loops.h defines it. The files that include it instantiate it for all others.
template <class Fold, class T>
Folding folding();

// What becomes of totals of one type.
struct Finishing {
  void (*store)(const SampleView& out, int64_t first, const void* totals, int64_t n, int64_t count, int ddof,
                const double* centers);
  void (*launch)(Launches& launches, int64_t items, const FinishParams& params);
};

template <class Reducer, class Total>
void store_results(const SampleView& out, int64_t first, const void* totals, int64_t n, int64_t count, int ddof,
                   const double* centers) {
  using Settled = decltype(settled(Total(), 1, 0));
  with_dtype(out.dtype, [&](auto type) {
    using Out = typename decltype(type)::type;
    if constexpr (Reducer::template gives<Out, Settled>) {
      const auto* __restrict from = static_cast<const Total*>(totals);
      Out* __restrict to = out.as<Out>() + first;
      const int64_t length = n, folded = count;  // copies that bytes written to the output cannot alias
      for (int64_t i = 0; i < length; i++)
        to[i] =
            Reducer::template result<Out>(settled(from[i], folded, kNeedsMean<Total> ? centers[i] : 0), folded, ddof);
    }
  });
}

// Everything that depends on the reduction and the element type.
struct Steps {
  Folding folding;
  Finishing finishing;
};
template <class Reducer>
Steps steps_of(DType in) {
  return with_dtype(in, [](auto type) -> Steps {
    using T = typename decltype(type)::type;
    using Fold = typename Reducer::template Fold<T>;
    using Total = typename Fold::Total;
    return {folding<Fold, T>(),
            {store_results<Reducer, Total>, [](Launches& launches, int64_t items, const FinishParams& params) {
               launches.add<FinishItem<Reducer, Total>>(0, items, params);
             }}};
  });
}

// The totals of a sample's parts on a GPU: `width` side by side, `parts` of them for each row.
struct FoldedParts {
  void* totals;
  int64_t parts;
};
FoldedParts launch_fold(Launches& launches, const Folding& folding, const Plan& plan, const SampleView& in,
                        const Means& means);

// One sample on a GPU; `mean` is for reductions around one. What comes after launches.then() finds the result.
void launch(Launches& launches, const Steps& steps, const Plan& plan, const SampleView& in, const SampleView& mean,
            const SampleView& out, int ddof);

std::vector<Data> run_steps(const Run& run, const Steps& steps);

void infer(Infer<ReduceArgs>& call, DType dtype);

// Types of results.
inline DType same_dtype(DType in) { return in; }
inline DType real_dtype(DType in) { return in == DType::float64 ? in : DType::float32; }

}  // namespace reduction

// Declares the arguments that all reductions have, and the loop. output(type of the input) is the type of the result,
// unless the user gives one.
template <class Reducer, DType (*output)(DType)>
void reduce(Op<ReduceArgs>& op) {
  op.arg("axes", &ReduceArgs::axes, "The axes to fold; negative ones count from the last. All axes when not given.",
         fixed)
      .arg("axis_names", &ReduceArgs::axis_names,
           "The axes to fold by their letters in the layout, instead of `axes`.");
  if constexpr (Reducer::has_ddof)
    op.arg("ddof", &ReduceArgs::ddof, "Delta degrees of freedom: what to subtract from the divisor.", fixed);
  if constexpr (Reducer::has_dtype)
    op.arg("dtype", &ReduceArgs::dtype, "The element type of the result, when another is wanted.");
  op.arg("keep_dims", &ReduceArgs::keep_dims, "Keep the folded axes, with the extent 1.", fixed)
      .infer([](Infer<ReduceArgs>& call) { reduction::infer(call, output(call.in[0].dtype)); })
      .custom([](const Run& run) { return reduction::run_steps(run, reduction::steps_of<Reducer>(run.in[0]->dtype)); })
      .on_gpu();
}

}  // namespace avida
