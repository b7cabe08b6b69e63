// The CPU loops of the family reduce, for one kind of fold and one element type. Included where folds are instantiated.
#pragma once
#include "loops/reducing/reduce.h"

namespace avida::reduction {

// The offset of the index-th position along the axes.
inline int64_t offset_of(const Shape& extents, const Shape& strides, int64_t index) {
  if (extents.empty()) return 0;
  int64_t offset = 0;
  for (int d = extents.size() - 1; d > 0; d--) {
    offset += index % extents[d] * strides[d];
    index /= extents[d];
  }
  return offset + index * strides[0];
}

// Adds `rows` rows to `width` adjacent sums.
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

// The same for the few rows that are left over, compiled once.
template <class Fold, class T>
[[gnu::noinline]] void add_any_rows(typename Fold::Partial* sums, const T* from, int64_t rows, int64_t width,
                                    int64_t stride, const double* centers) {
  add_rows<Fold>(sums, from, rows, width, stride, centers);
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
  for (int64_t i = 0; i < rest; i++) {
    if constexpr (Fold::centered)
      sum = Fold::add(sum, from[i], *center);
    else
      sum = Fold::add(sum, from[i]);
  }
  total = Fold::join(total, sum);
}

// Adds rows of columns to one total for each column.
template <class Fold, class T>
void add_columns(typename Fold::Total* totals, const T* from, int64_t rows, int64_t width, int64_t stride,
                 const double* center) {
  using Partial = typename Fold::Partial;
  alignas(64) Partial sums[kGroup];
  alignas(64) double centers[Fold::centered ? kGroup : 1] = {};
  // Short rows without gaps, such as the channels of pixels, are taken several at a time.
  int64_t together = width == stride ? std::min(kGroup / width, rows) : 1;
  int64_t wide = together * width;
  std::fill_n(sums, wide, Fold::start());
  if constexpr (Fold::centered)
    for (int64_t k = 0; k < together; k++) std::copy_n(center, width, centers + k * width);
  int64_t wide_rows = rows / together;
  add_rows<Fold>(sums, from, wide_rows, wide, together == 1 ? stride : wide, centers);
  int64_t done = wide_rows * together;
  add_any_rows<Fold>(sums, from + done * stride, rows - done, width, stride, centers);
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
void fold_group(const Plan& plan, const void* in, int64_t group, int64_t begin, int64_t end, const double* centers,
                void* to) {
  const T* from = static_cast<const T*>(in);
  auto* totals = static_cast<typename Fold::Total*>(to);
  int64_t first = plan.first_output(group), n = plan.outputs_of(group);
  if constexpr (requires {
                  typename Fold::Squares;
                }) {  // vectors of one and then of the other are faster than of pairs
    typename Fold::Sums::Total sums[kGroup];
    typename Fold::Squares::Total squares[kGroup];
    fold_group<typename Fold::Sums, T>(plan, in, group, begin, end, centers, sums);
    fold_group<typename Fold::Squares, T>(plan, in, group, begin, end, centers, squares);
    for (int64_t i = 0; i < n; i++) totals[i].sum = sums[i], totals[i].squares = squares[i];
    return;
  }
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

template <class Fold>
void join_totals(void* totals, const void* others, int64_t n) {
  using Total = typename Fold::Total;
  for (int64_t i = 0; i < n; i++)
    static_cast<Total*>(totals)[i] = Fold::join(static_cast<Total*>(totals)[i], static_cast<const Total*>(others)[i]);
}

template <class Fold, class T>
Folding folding() {
  Folding made{.total_bytes = sizeof(typename Fold::Total),
               .centered = Fold::centered || kNeedsMean<typename Fold::Total>,
               .fold = fold_group<Fold, T>,
               .join = join_totals<Fold>,
               .launch = [](Launches& launches, int64_t items,
                            const FoldParams& params) { launches.add<FoldItem<Fold, T>>(0, items, params); },
               .parts_of_row = nullptr,
               .launch_rows = nullptr};
  if constexpr (std::is_same_v<T, uint8_t> || std::is_same_v<T, float>) {
    made.parts_of_row = FoldRows<Fold, T>::parts_of;
    made.launch_rows = [](Launches& launches, int64_t items, const FoldRowsParams& params) {
      launches.add<FoldRows<Fold, T>>(0, items, params);
    };
  }
  return made;
}

}  // namespace avida::reduction
