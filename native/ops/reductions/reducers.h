// The reductions: how each accumulates elements and makes its result of them. Read by NVRTC too: no std headers.
//   Fold<T>   how elements of type T are gathered
//   gives     whether there are results of type Out
//   join      what two totals come to
//   result    the output element, from the total of `count` elements
#pragma once
#include "device/math.h"
#include "ops/reductions/fold.h"

namespace avida::ops {

struct AddsTotals {
  static constexpr const char* header = "ops/reductions/reducers.h";
  template <class Total>
  AVIDA_HD AVIDA_INLINE static Total join(Total a, Total b) {
    if constexpr (same_type<Total, ByteMoments>)
      return AddByteMoments::join(a, b);
    else
      return wrapping_add(a, b);
  }
};

struct Sum : AddsTotals {
  static constexpr bool has_dtype = true, has_ddof = false;
  template <class Out, class Total>
  static constexpr bool gives = true;
  template <class T>
  using Fold = AddUp<T>;
  // A narrow integer type takes the lowest bits of an integer sum.
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long, int) {
    if constexpr (same_type<Total, double>)
      return from_real<Out>(total);
    else if constexpr (TypeTraits<Out>::is_float)
      return convert<Out>(static_cast<double>(total));
    else
      return static_cast<Out>(total);
  }
};

struct Mean : AddsTotals {
  static constexpr bool has_dtype = true, has_ddof = false;
  template <class Out, class Total>
  static constexpr bool gives = true;
  template <class T>
  using Fold = AddUpWide<T>;
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long count, int) {
    return quotient<Out>(total, count);
  }
};

struct MeanSquare : AddsTotals {
  static constexpr bool has_dtype = true, has_ddof = false;
  template <class Out, class Total>
  static constexpr bool gives = true;
  template <class T>
  using Fold = AddSquares<T>;
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long count, int) {
    return quotient<Out>(total, count);
  }
};

struct RootMeanSquare : AddsTotals {
  static constexpr bool has_dtype = true, has_ddof = false;
  template <class Out, class Total>
  static constexpr bool gives = true;
  template <class T>
  using Fold = AddSquares<T>;
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long count, int) {
    return from_real<Out>(math::sqrt(static_cast<double>(total) / static_cast<double>(count)));
  }
};

struct StdDev : AddsTotals {
  static constexpr bool has_dtype = false, has_ddof = true;
  template <class Out, class Total>
  static constexpr bool gives = same_type<Out, float> || same_type<Out, double>;
  template <class T>
  using Fold = AddDistances<T>;
  template <class Out>
  AVIDA_HD static Out result(double total, long count, int ddof) {
    return convert<Out>(math::sqrt(total / static_cast<double>(count - ddof)));
  }
};

struct Variance : AddsTotals {
  static constexpr bool has_dtype = false, has_ddof = true;
  template <class Out, class Total>
  static constexpr bool gives = same_type<Out, float> || same_type<Out, double>;
  template <class T>
  using Fold = AddDistances<T>;
  template <class Out>
  AVIDA_HD static Out result(double total, long count, int ddof) {
    return convert<Out>(total / static_cast<double>(count - ddof));
  }
};

struct Minimum {
  static constexpr const char* header = "ops/reductions/reducers.h";
  static constexpr bool has_dtype = false, has_ddof = false;
  template <class Out, class Total>
  static constexpr bool gives = same_type<typename ComputeType<Out>::type, Total>;
  template <class T>
  using Fold = Least<T>;
  template <class Total>
  AVIDA_HD AVIDA_INLINE static Total join(Total a, Total b) {
    return b < a ? b : a;
  }
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long count, int) {
    return count == 0 ? TypeTraits<Out>::highest() : convert<Out>(total);
  }
};

struct Maximum {
  static constexpr const char* header = "ops/reductions/reducers.h";
  static constexpr bool has_dtype = false, has_ddof = false;
  template <class Out, class Total>
  static constexpr bool gives = same_type<typename ComputeType<Out>::type, Total>;
  template <class T>
  using Fold = Greatest<T>;
  template <class Total>
  AVIDA_HD AVIDA_INLINE static Total join(Total a, Total b) {
    return b > a ? b : a;
  }
  template <class Out, class Total>
  AVIDA_HD static Out result(Total total, long count, int) {
    return count == 0 ? TypeTraits<Out>::lowest() : convert<Out>(total);
  }
};

}  // namespace avida::ops
