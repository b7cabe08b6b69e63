// The kernels of the family reduce, in two steps: parts are folded, then joined. Read by NVRTC too: no std headers.
#pragma once
#include "device/element.h"

namespace avida {

constexpr int kReducedAxes = 8;  // of a kind, after merging: kept and folded ones alternate

struct FoldParams {
  void* totals;  // in the order of the items
  const void* in;
  const void* mean;  // of each output, or one for all; for folds around a mean
  int mean_type;
  bool one_mean;
  long count, parts, run, width;  // elements that an output folds; see reduction::Plan
  int kept_axes, folded_axes;
  long kept[kReducedAxes], kept_step[kReducedAxes], folded[kReducedAxes], folded_step[kReducedAxes];
};

// An item is a part of what one output folds: every element whose number is `part` more than a multiple of `parts`.
// Neighbouring items read neighbouring elements. Fold is as in ops/reductions/fold.h.
template <class Fold, class T>
struct FoldItem {
  static constexpr const char* header = "loops/reducing/reduce_item.h";
  using Inner = Fold;
  using Total = typename Fold::Total;
  static constexpr long kMostInPartial = 1 << 16;

  using Params = FoldParams;

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const long column = item % params.width, rest = item / params.width;
    const long part = rest % params.parts, row = rest / params.parts;
    const T* in =
        static_cast<const T*>(params.in) + offset(params.kept, params.kept_step, params.kept_axes, row) + column;
    double center = 0;
    if constexpr (Fold::centered)
      center = load_element<double, AnyElement>(params.mean, params.mean_type,
                                                params.one_mean ? 0 : row * params.width + column);
    Total total = Fold::start();
    for (long i = part; i < params.count;) {
      typename Fold::Partial sum = Fold::start();
      for (long n = 0; n < kMostInPartial && i < params.count; n++, i += params.parts) {
        const long from = params.folded_axes == 0
                              ? i * params.width
                              : offset(params.folded, params.folded_step, params.folded_axes, i / params.run) +
                                    i % params.run * params.width;
        if constexpr (Fold::centered)
          sum = Fold::add(sum, in[from], center);
        else
          sum = Fold::add(sum, in[from]);
      }
      total = Fold::join(total, sum);
    }
    static_cast<Total*>(params.totals)[item] = total;
  }

 private:
  AVIDA_HD AVIDA_INLINE static long offset(const long* extents, const long* steps, int axes, long index) {
    long at = 0;
    for (int d = axes - 1; d >= 0; index /= extents[d--]) at += index % extents[d] * steps[d];
    return at;
  }
};

struct FinishParams {
  void* out;
  const void* totals;
  int type, ddof;
  long count, parts, width;
};

// An item is an output, made of the totals of its parts. Reducer is as in ops/reductions/reducers.h.
template <class Reducer, class Total>
struct FinishItem {
  static constexpr const char* header = "loops/reducing/reduce_item.h";
  using Inner = Reducer;
  using Params = FinishParams;

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long item) {
    const long column = item % params.width, row = item / params.width;
    const Total* totals = static_cast<const Total*>(params.totals) + row * params.parts * params.width + column;
    Total total = totals[0];
    for (long part = 1; part < params.parts; part++) total = Reducer::join(total, totals[part * params.width]);
    switch (params.type) {
#define AVIDA_X(NUMBER, T)                                                                               \
  case NUMBER:                                                                                           \
    if constexpr (Reducer::template gives<T, Total>)                                                     \
      static_cast<T*>(params.out)[item] = Reducer::template result<T>(total, params.count, params.ddof); \
    return;
      AVIDA_EACH_ELEMENT_TYPE(AVIDA_X)
#undef AVIDA_X
    }
  }
};

}  // namespace avida
