// The family of operators that fold each sample along chosen axes. An operator gives
//
//   struct Sum {
//     template <class T> using Fold = AddUp<T>;  // how elements of type T are gathered, see ops/reductions/fold.h
//     template <class Total> AVIDA_HD static Total join(Total a, Total b);
//     template <class Out, class Total> AVIDA_HD static Out result(Total total, long count, int ddof);
//   };
//
// Outputs are made in groups of up to kGroup neighbours. What each of them folds is cut into pieces of about kPiece
// elements; where there are few groups, blocks of pieces go to different threads. All cuts follow from the shape alone,
// so that the order of additions, and with it the result, is the same for any number of threads.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>

#include "op/launches.h"
#include "op/op.h"
#include "op/reduce_item.h"
#include "runtime/thread_pool.h"

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

// Where the index-th place along the axes lies.
inline int64_t offset_of(const Shape& extents, const Shape& strides, int64_t index) {
  if (extents.empty()) return 0;
  int64_t offset = 0;
  for (int d = extents.size() - 1; d > 0; d--) {
    offset += index % extents[d] * strides[d];
    index /= extents[d];
  }
  return offset + index * strides[0];
}

// Adds `rows` rows to `width` sums side by side.
template <class Fold, class T>
AVIDA_INLINE void add_rows(typename Fold::Partial* __restrict sums, const T* __restrict from, int64_t rows,
                           int64_t width, int64_t stride, const double* __restrict centers) {
  auto add = [&](auto sum, T x, int64_t j) {
    if constexpr (Fold::centered)
      return Fold::add(sum, x, centers[j]);
    else
      return Fold::add(sum, x);
  };
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4, from += 4 * stride) {
    const T *second = from + stride, *third = second + stride, *fourth = third + stride;
    for (int64_t j = 0; j < width; j++)
      sums[j] = add(add(add(add(sums[j], from[j], j), second[j], j), third[j], j), fourth[j], j);
  }
  for (; row < rows; row++, from += stride)
    for (int64_t j = 0; j < width; j++) sums[j] = add(sums[j], from[j], j);
}

// Adds n elements that follow one another to one total.
template <class Fold, class T>
void add_run(typename Fold::Total& total, const T* from, int64_t n, const double* center) {
  using Partial = typename Fold::Partial;
  int64_t rows = n / kLanes, rest = n - rows * kLanes;
  if (rows > 0) {
    alignas(64) Partial sums[kLanes];
    alignas(64) double centers[kLanes];
    std::fill_n(sums, kLanes, Fold::start());
    if constexpr (Fold::centered) std::fill_n(centers, kLanes, *center);
    add_rows<Fold>(sums, from, rows, kLanes, kLanes, centers);
    for (Partial sum : sums) total = Fold::join(total, sum);
    from += rows * kLanes;
  }
  Partial sum = Fold::start();
  add_rows<Fold>(&sum, from, rest, 1, 1, center);
  total = Fold::join(total, sum);
}

// Adds rows of columns to one total for each column.
template <class Fold, class T>
void add_columns(typename Fold::Total* totals, const T* from, int64_t rows, int64_t width, int64_t stride,
                 const double* center) {
  using Partial = typename Fold::Partial;
  alignas(64) Partial sums[kGroup];
  alignas(64) double centers[kGroup];
  // Short rows without gaps, such as the channels of pixels, are taken several at a time.
  int64_t together = width == stride ? std::min(kGroup / width, rows) : 1;
  int64_t wide = together * width;
  std::fill_n(sums, wide, Fold::start());
  if constexpr (Fold::centered)
    for (int64_t k = 0; k < together; k++) std::copy_n(center, width, centers + k * width);
  int64_t wide_rows = rows / together;
  add_rows<Fold>(sums, from, wide_rows, wide, together == 1 ? stride : wide, centers);
  int64_t done = wide_rows * together;
  add_rows<Fold>(sums, from + done * stride, rows - done, width, stride, centers);
  for (int64_t k = 0; k < together; k++)
    for (int64_t j = 0; j < width; j++) totals[j] = Fold::join(totals[j], sums[k * width + j]);
}

// Short runs that follow one another, such as the channels of pixels, to one total each. N: their length, or 0.
template <class Fold, int N, class T>
void add_short_runs(typename Fold::Total* __restrict totals, const T* __restrict from, int64_t n, int64_t run,
                    const double* centers) {
  int64_t length = N > 0 ? N : run;
  for (int64_t i = 0; i < n; i++) {
    typename Fold::Partial sum = Fold::start();
    for (int64_t j = 0; j < length; j++) {
      if constexpr (Fold::centered)
        sum = Fold::add(sum, from[i * length + j], centers[i]);
      else
        sum = Fold::add(sum, from[i * length + j]);
    }
    totals[i] = sum;
  }
}

// The totals of one group over pieces [begin, end) of what its outputs fold.
template <class Fold, class T>
void fold_group(const Plan& plan, const T* from, int64_t group, int64_t begin, int64_t end, const double* centers,
                typename Fold::Total* totals) {
  int64_t first = plan.first_output(group), n = plan.outputs_of(group);
  if (!plan.columns && plan.run < kLanes && plan.folded.empty() && plan.run > 0) {
    from += first * plan.run;
    if (plan.run == 3)
      add_short_runs<Fold, 3>(totals, from, n, 3, centers);
    else
      add_short_runs<Fold, 0>(totals, from, n, plan.run, centers);
    return;
  }
  for (int64_t i = 0; i < n; i++) totals[i] = Fold::start();
  auto each_piece = [&](const T* base, auto&& fn) {
    int64_t outer = begin == 0 ? 0 : begin / plan.chunks, chunk = begin - outer * plan.chunks;
    for (int64_t p = begin; p < end; p++) {
      fn(base + offset_of(plan.folded, plan.folded_strides, outer) + chunk * plan.piece * plan.width,
         std::min(plan.piece, plan.run - chunk * plan.piece));
      if (++chunk == plan.chunks) chunk = 0, outer++;
    }
  };
  if (plan.columns) {
    int64_t row = first / plan.width;
    each_piece(from + offset_of(plan.kept, plan.kept_strides, row) + (first - row * plan.width),
               [&](const T* piece, int64_t rows) { add_columns<Fold>(totals, piece, rows, n, plan.width, centers); });
  } else {
    for (int64_t i = 0; i < n; i++)
      each_piece(from + offset_of(plan.kept, plan.kept_strides, first + i),
                 [&](const T* piece, int64_t length) { add_run<Fold>(totals[i], piece, length, centers + i); });
  }
}

// Copies the means that a group's outputs are measured against.
void load_centers(const SampleView& mean, int64_t first, int64_t n, double* to);

template <class Op, class Total>
void store(const SampleView& out, int64_t first, const Total* totals, int64_t n, int64_t count,
           const ReduceArgs& args) {
  with_dtype(out.dtype, [&](auto type) {
    using Out = typename decltype(type)::type;
    Out* to = out.as<Out>() + first;
    for (int64_t i = 0; i < n; i++) to[i] = Op::template result<Out>(totals[i], count, args.ddof);
  });
}

// Everything but the arithmetic: shapes, memory, and what each thread does.
struct Part {
  int sample;
  int64_t group, groups;  // first and how many
  int64_t block;
  int64_t scratch;  // where the block's totals go; -1: straight to the output
};
struct Reduction {
  std::vector<SampleView> in, mean, out;
  std::vector<Plan> plans;
  std::vector<Part> parts;
  int64_t scratch = 0;  // totals to keep until all blocks are done
  bool threads = false;
  Data result;

  explicit Reduction(const Run& run);
};

template <class Op, class T>
void run_typed(const Run& run, const Reduction& work) {
  using Fold = typename Op::template Fold<T>;
  using Total = typename Fold::Total;
  const ReduceArgs& args = *static_cast<const ReduceArgs*>(run.args.at(0));
  std::unique_ptr<Total[]> scratch(new Total[work.scratch]);
  auto do_part = [&](int64_t p) {
    const Part& part = work.parts[p];
    const Plan& plan = work.plans[part.sample];
    alignas(64) Total totals[kGroup];
    double centers[Fold::centered ? kGroup : 1] = {};
    int64_t begin = plan.pieces * part.block / plan.blocks, end = plan.pieces * (part.block + 1) / plan.blocks;
    for (int64_t group = part.group; group < part.group + part.groups; group++) {
      int64_t first = plan.first_output(group), n = plan.outputs_of(group);
      if constexpr (Fold::centered) load_centers(work.mean[part.sample], first, n, centers);
      Total* to = part.scratch < 0 ? totals : scratch.get() + part.scratch;
      fold_group<Fold>(plan, work.in[part.sample].template as<const T>(), group, begin, end, centers, to);
      if (part.scratch < 0) store<Op>(work.out[part.sample], first, to, n, plan.count, args);
    }
  };
  int64_t parts = static_cast<int64_t>(work.parts.size());
  if (work.threads)
    run.pool.parallel_for(parts, do_part);
  else
    for (int64_t p = 0; p < parts; p++) do_part(p);

  // The blocks of a group stand beside each other, in order.
  for (int64_t p = 0; p < parts; p++) {
    const Part& part = work.parts[p];
    if (part.scratch < 0 || part.block > 0) continue;
    const Plan& plan = work.plans[part.sample];
    int64_t n = plan.outputs_of(part.group);
    Total* totals = scratch.get() + part.scratch;
    for (int64_t block = 1; block < plan.blocks; block++)
      for (int64_t i = 0; i < n; i++) totals[i] = Fold::join(totals[i], totals[block * n + i]);
    store<Op>(work.out[part.sample], plan.first_output(part.group), totals, n, plan.count, args);
  }
}

// How many parts of a fold go to different threads of a GPU: as many as elements in a part, where there are few
// outputs.
int64_t gpu_parts(const Plan& plan);

// One sample on a GPU; `mean` is for reductions around one. What comes after launches.then() finds the result.
template <class Reducer>
void launch(Launches& launches, const Plan& plan, const SampleView& in, const SampleView& mean, const SampleView& out,
            int ddof) {
  const int64_t parts = gpu_parts(plan);
  with_dtype(in.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    using Fold = typename Reducer::template Fold<T>;
    using Total = typename Fold::Total;
    auto* totals = static_cast<Total*>(launches.scratch(plan.outputs * parts * int64_t{sizeof(Total)}));
    typename FoldItem<Fold, T>::Params params{.totals = totals,
                                              .in = in.as<const T>(),
                                              .mean = mean.data,
                                              .mean_type = static_cast<int>(mean.dtype),
                                              .one_mean = mean.elements() == 1,
                                              .count = plan.count,
                                              .parts = parts,
                                              .run = plan.run,
                                              .width = plan.width,
                                              .kept_axes = plan.kept.size(),
                                              .folded_axes = plan.folded.size()};
    std::ranges::copy(plan.kept, params.kept);
    std::ranges::copy(plan.kept_strides, params.kept_step);
    std::ranges::copy(plan.folded, params.folded);
    std::ranges::copy(plan.folded_strides, params.folded_step);
    launches.add<FoldItem<Fold, T>>(0, plan.outputs * parts, params);
    launches.then();
    launches.add<FinishItem<Reducer, Total>>(
        0, plan.outputs, {out.data, totals, static_cast<int>(out.dtype), ddof, plan.count, parts, plan.width});
  });
}

template <class Op>
std::vector<Data> run(const Run& run) {
  Reduction work(run);
  if (run.launches) {
    for (int i = 0; i < run.samples; i++) {
      launch<Op>(*run.launches, work.plans[i], work.in[i], work.mean[i], work.out[i],
                 static_cast<const ReduceArgs*>(run.args.at(0))->ddof);
      run.launches->next_sample();
    }
    return {std::move(work.result)};
  }
  with_dtype(run.in[0]->dtype, [&](auto type) { run_typed<Op, typename decltype(type)::type>(run, work); });
  return {std::move(work.result)};
}

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
      .custom(reduction::run<Reducer>)
      .on_gpu();
}

}  // namespace avida
