// The kernels of the family reduce, in two steps: parts are folded, then joined. Read by NVRTC too: no std headers.
#pragma once
#include "device/divide.h"
#include "device/element.h"
#include "device/words.h"

namespace avida {

constexpr int kReducedAxes = 8;  // of a kind, after merging: kept and folded ones alternate

// The means of outputs, for reductions around one.
struct Means {
  const void* data;
  int type;
  bool one;  // for all outputs

  AVIDA_HD AVIDA_INLINE double of(long output) const {
    return data ? load_element<double, AnyElement>(data, type, one ? 0 : output) : 0;
  }
};

struct FoldParams {
  void* totals;  // in the order of the items
  const void* in;
  Means means;
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
    if constexpr (Fold::centered) center = params.means.of(row * params.width + column);
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

struct FoldRowsParams {
  void* totals;  // in the order of the items
  const void* in;
  Means means;
  long elements;  // of a row
  unsigned width, parts;
};

// The same for rows of elements that follow one another, of which every `width`-th belongs to the same output. An item
// is a part of a row. Its threads load 16 bytes each, from so many places at once that each always meets the same
// outputs.
template <class Fold, class T>
struct FoldRows {
  static constexpr const char* header = "loops/reducing/reduce_item.h";
  using Inner = Fold;
  using Total = typename Fold::Total;
  using Partial = typename Fold::Partial;
  using Params = FoldRowsParams;
  static constexpr int kThreads = 256, kPhases = 4, kBlocks = 4, kLanes = 16;
  static constexpr int kLoad = 16 / sizeof(T), kLoads = kLoad * sizeof(Partial) > 64 ? 2 : 4, kLoadsOfPart = 16;
  struct Shared {
    Partial of_loads[kLoad][kThreads + 1];
    Total of_lanes[kThreads];
  };

  AVIDA_HD AVIDA_INLINE static unsigned threads_for(unsigned width) { return kThreads / width * width; }
  AVIDA_HD AVIDA_INLINE static long parts_of(long elements, unsigned width) {
    const long part = long{threads_for(width)} * kLoad * kLoadsOfPart;
    return (elements + part - 1) / part;
  }

  template <int phase>
  AVIDA_HD AVIDA_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const unsigned width = params.width, threads = threads_for(width), at = static_cast<unsigned>(thread);
    const unsigned column = at % width, lanes = kThreads / width, lane = at / width;
    if constexpr (phase == 0) {
      if (at < threads) fold(params, shared, item, thread, long{threads} * kLoad);
    } else if constexpr (phase == 1) {
      if (lane >= lanes) return;
      Total total = Fold::start();
      for (unsigned i = at; i < threads * kLoad; i += lanes * width)
        total = Fold::join(total, shared.of_loads[i % kLoad][i / kLoad]);
      shared.of_lanes[at] = total;
    } else if constexpr (phase == 2) {
      if (lane >= kLanes || lane >= lanes) return;
      Total total = shared.of_lanes[at];
      for (unsigned i = lane + kLanes; i < lanes; i += kLanes)
        total = Fold::join(total, shared.of_lanes[i * width + column]);
      shared.of_lanes[at] = total;
    } else {
      if (lane > 0) return;
      Total total = shared.of_lanes[at];
      for (unsigned i = 1; i < kLanes && i < lanes; i++) total = Fold::join(total, shared.of_lanes[i * width + column]);
      static_cast<Total*>(params.totals)[item * width + column] = total;
    }
  }

 private:
  AVIDA_HD AVIDA_INLINE static void fold(const Params& params, Shared& shared, long item, int thread, long step) {
    const long row = item / params.parts, part = item - row * params.parts;
    const T* in = static_cast<const T*>(params.in) + row * params.elements;
    const long part_end = (part + 1) * kLoadsOfPart * step,
               end = part_end < params.elements ? part_end : params.elements;
    double centers[kLoad];
    if constexpr (Fold::centered)
      for (int k = 0; k < kLoad; k++)
        centers[k] = params.means.of(row * params.width + (static_cast<unsigned>(thread) * kLoad + k) % params.width);
    Partial sums[kLoad];
    for (Partial& sum : sums) sum = Fold::start();
    auto add = [&](int k, T x) {
      if constexpr (Fold::centered)
        sums[k] = Fold::add(sums[k], x, centers[k]);
      else
        sums[k] = Fold::add(sums[k], x);
    };
    long i = part * kLoadsOfPart * step + long{thread} * kLoad;
    AVIDA_DO_NOT_UNROLL
    for (; i + (kLoads - 1) * step + kLoad <= end; i += kLoads * step) {
      Elements<T, kLoad> read[kLoads];
      AVIDA_UNROLL
      for (int j = 0; j < kLoads; j++) read[j] = load_elements<kLoad>(in + i + j * step);
      AVIDA_UNROLL
      for (int j = 0; j < kLoads; j++) AVIDA_UNROLL
      for (int k = 0; k < kLoad; k++) add(k, read[j].at[k]);
    }
    AVIDA_DO_NOT_UNROLL
    for (; i < end; i += step) {
      AVIDA_UNROLL
      for (int k = 0; k < kLoad; k++)
        if (i + k < end) add(k, in[i + k]);
    }
    AVIDA_UNROLL
    for (int k = 0; k < kLoad; k++) shared.of_loads[k][thread] = sums[k];
  }
};

struct FinishParams {
  void* out;
  const void* totals;
  Means means;
  int type, ddof;
  long count, parts, width;
};

// What a reduction is given of a total: those that need a mean become squared distances from it.
template <class Total>
constexpr bool kNeedsMean = requires(const Total& total) { total.distances(1l, 0.0); };
template <class Total>
AVIDA_HD AVIDA_INLINE auto settled(const Total& total, long count, double center) {
  if constexpr (kNeedsMean<Total>)
    return total.distances(count, center);
  else
    return total;
}

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
    auto settled = avida::settled(total, params.count, kNeedsMean<Total> ? params.means.of(item) : 0);
    switch (params.type) {
#define AVIDA_X(NUMBER, T)                                                                                 \
  case NUMBER:                                                                                             \
    if constexpr (Reducer::template gives<T, decltype(settled)>)                                           \
      static_cast<T*>(params.out)[item] = Reducer::template result<T>(settled, params.count, params.ddof); \
    return;
      AVIDA_EACH_ELEMENT_TYPE(AVIDA_X)
#undef AVIDA_X
    }
  }
};

}  // namespace avida
