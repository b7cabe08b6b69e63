#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "core/clones.h"
#include "loops/neighbours/each_window.h"
#include "loops/neighbours/stencil.h"
#include "operator/declare.h"
#include "ops/filter/column_median.h"
#include "ops/filter/median_rows.h"

namespace avida::ops {
namespace {

struct MedianBlurArgs {
  std::vector<int> window_size = {3, 3};
};

constexpr int kLargestWindow = 4095;
constexpr int64_t kMostSelectedBytes = 100;  // window elements; beyond, a histogram is faster
constexpr int64_t kMostSelected = 400;       // the same for other types, and std::nth_element

// What elements are compared as. Floats become integers in the same order, with NaN as the largest: what compares
// floats would lose elements beside NaN.
template <class T>
struct SortKey {
  using type = T;
  static AVIDA_INLINE T of(T x) { return x; }
  static AVIDA_INLINE T back(T key) { return key; }
};
template <class Float, class Whole>
struct FloatKey {
  using type = Whole;
  static constexpr Whole kNan = std::bit_cast<Whole>(std::numeric_limits<Float>::quiet_NaN());
  // Below 0 the order is the other way round.
  static AVIDA_INLINE Whole turned(Whole bits) {
    return bits ^ ((bits >> (8 * sizeof(Whole) - 1)) & std::numeric_limits<Whole>::max());
  }
  static AVIDA_INLINE Whole of(Float x) { return x == x ? turned(std::bit_cast<Whole>(x)) : kNan; }
  static AVIDA_INLINE Float back(Whole key) { return std::bit_cast<Float>(turned(key)); }
};
template <>
struct SortKey<float> : FloatKey<float, int32_t> {};
template <>
struct SortKey<double> : FloatKey<double, int64_t> {};
template <class T>
using KeyOf = typename SortKey<T>::type;

template <class T>
AVIDA_INLINE T lower(T a, T b) {
  return a < b ? a : b;
}
template <class T>
AVIDA_INLINE T upper(T a, T b) {
  return a < b ? b : a;
}
template <class T>
AVIDA_INLINE T middle(T a, T b, T c) {
  return upper(lower(a, b), lower(upper(a, b), c));
}

// Windows of 3 x 3: columns are sorted once for the three windows that share them. The median is the middle one of the
// largest of the low, the middle of the middle and the smallest of the high.
template <class T>
struct SortedColumns {
  T *low, *mid, *high;
};

template <class T, class Key>
AVIDA_INLINE void sort_columns(const SortedColumns<Key>& to, const T* top, const T* centre, const T* bottom,
                               int64_t n) {
  Key *low = to.low, *mid = to.mid, *high = to.high;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    Key a = SortKey<T>::of(top[i]), b = SortKey<T>::of(centre[i]), c = SortKey<T>::of(bottom[i]);
    Key lo = lower(a, b), hi = upper(a, b);
    low[i] = lower(lo, c);
    mid[i] = upper(lo, lower(hi, c));
    high[i] = upper(hi, c);
  }
}

template <class T, class Key>
AVIDA_INLINE void median_of_columns(T* __restrict out, const SortedColumns<Key>& of, int64_t step, int64_t n) {
  const Key *low = of.low - step, *mid = of.mid - step, *high = of.high - step;
  for (int64_t i = 0; i < n; i++) {
    Key lo = upper(upper(low[i], low[i + step]), low[i + 2 * step]);
    Key hi = lower(lower(high[i], high[i + step]), high[i + 2 * step]);
    out[i] = SortKey<T>::back(middle(lo, middle(mid[i], mid[i + step], mid[i + 2 * step]), hi));
  }
}

// Elements whose medians are found side by side; unaligned.
template <class T>
struct LanesOf {
  typedef T type __attribute__((vector_size(64), aligned(sizeof(T)), may_alias));
};
template <class T>
using Lanes = typename LanesOf<T>::type;
template <class T>
constexpr int64_t kLanes = 64 / sizeof(T);
// From the next line of the cache on: each access to Lanes would touch two otherwise.
template <class T>
T* aligned(T* memory) {
  return reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(memory) + 63) & ~uintptr_t(63));
}

// T is named in calls: deduced from the arguments, Lanes would lose their alignment.
template <class T>
AVIDA_INLINE void sort_lanes(Lanes<T>& a, Lanes<T>& b) {
  Lanes<T> low = a < b ? a : b, high = a < b ? b : a;
  a = low;
  b = high;
}

// The median by forgetting: of more than half of the elements, neither the smallest nor the largest can be the median.
// Both are dropped, one more element comes in, and so on. `memory` has room for count / 2 + 2 Lanes.
template <class T>
AVIDA_INLINE void median_of_many(T* out, const T* const* elements, int64_t count, int64_t lanes, T* memory) {
  Lanes<T>* kept = reinterpret_cast<Lanes<T>*>(memory);
  int64_t first = 0, end = 0, next = 0;
  auto take = [&] {
    if (lanes == kLanes<T>)
      kept[end] = *reinterpret_cast<const Lanes<T>*>(elements[next]);
    else
      std::copy_n(elements[next], lanes, memory + end * kLanes<T>);
    end++, next++;
  };
  while (end < std::min(count, count / 2 + 2)) take();
  while (end - first > 1) {
    int64_t low_end = first + (end - first + 1) / 2, high = first + (end - first) / 2;
    for (int64_t i = first, k = end - 1; i < k; i++, k--) sort_lanes<T>(kept[i], kept[k]);
    Lanes<T> smallest = kept[first], largest = kept[end - 1];  // kept in registers: they need not be stored
    for (int64_t i = first + 1; i < low_end; i++) sort_lanes<T>(smallest, kept[i]);
    for (int64_t i = high; i < end - 1; i++) sort_lanes<T>(kept[i], largest);
    first++, end--;
    if (next < count) take();
  }
  std::copy_n(memory + first * kLanes<T>, lanes, out);
}

// The same for windows of 5 x 5 bytes, in registers: 14 are kept. The smallest of those from `first` on goes to the
// first position, the largest to the last.
template <int first, size_t... k>
AVIDA_INLINE void part_extremes(Lanes<uint8_t>* kept, std::index_sequence<k...>) {
  constexpr int last = 13, half = (last - first + 1) / 2, half_up = (last - first + 2) / 2;
  ((k < half ? sort_lanes<uint8_t>(kept[first + k], kept[last - k]) : void()), ...);
  ((k + 1 < half_up ? sort_lanes<uint8_t>(kept[first], kept[first + 1 + k]) : void()), ...);
  ((k + 1 < half_up ? sort_lanes<uint8_t>(kept[last - 1 - k], kept[last]) : void()), ...);
}
template <int first, class Element>
AVIDA_INLINE void forget(Lanes<uint8_t>* kept, const Element& element) {
  part_extremes<first>(kept, std::make_index_sequence<(14 - first + 1) / 2>());
  if constexpr (first < 11) {
    element(kept[13], 14 + first);
    forget<first + 1>(kept, element);
  }
}
template <size_t... k>
AVIDA_INLINE void median_of_25(uint8_t* out, const uint8_t* rows, int64_t pitch, int64_t step,
                               std::index_sequence<k...>) {
  using V = Lanes<uint8_t>;
  auto element = [&](V& to, int e) __attribute__((always_inline)) {
    to = *reinterpret_cast<const V*>(rows + e / 5 * pitch + e % 5 * step);
  };
  V kept[14];
  (element(kept[k], k), ...);
  forget<0>(kept, element);
  *reinterpret_cast<V*>(out) = kept[12];
}
// For rows of at least as many elements as there are lanes: the last ones are done twice.
AVIDA_CLONES void twenty_five(uint8_t* out, const uint8_t* rows, int64_t pitch, int64_t step, int64_t n) {
  for (int64_t i = 0; i < n; i += kLanes<uint8_t>) {
    int64_t at = std::min(i, n - kLanes<uint8_t>);
    median_of_25(out + at, rows + at, pitch, step, std::make_index_sequence<14>());
  }
}

#define AVIDA_NINE(T)                                                                                              \
  AVIDA_CLONES void sort_three(const SortedColumns<KeyOf<T>>& to, const T* a, const T* b, const T* c, int64_t n) { \
    sort_columns(to, a, b, c, n);                                                                                  \
  }                                                                                                                \
  AVIDA_CLONES void nine(T* out, const SortedColumns<KeyOf<T>>& of, int64_t step, int64_t n) {                     \
    median_of_columns(out, of, step, n);                                                                           \
  }
AVIDA_NINE(uint8_t)
AVIDA_NINE(uint16_t)
AVIDA_NINE(int16_t)
AVIDA_NINE(int32_t)
AVIDA_NINE(float)
AVIDA_NINE(double)
#undef AVIDA_NINE

#define AVIDA_MANY(Key)                                                                                   \
  AVIDA_CLONES void many(Key* out, const Key* const* elements, int64_t count, int64_t lanes, Key* kept) { \
    median_of_many(out, elements, count, lanes, kept);                                                    \
  }
AVIDA_MANY(uint8_t)
AVIDA_MANY(uint16_t)
AVIDA_MANY(int16_t)
AVIDA_MANY(int32_t)
AVIDA_MANY(int64_t)
#undef AVIDA_MANY

#define AVIDA_KEYS(T)                                                   \
  AVIDA_CLONES void to_keys(KeyOf<T>* to, const T* from, int64_t n) {   \
    for (int64_t i = 0; i < n; i++) to[i] = SortKey<T>::of(from[i]);    \
  }                                                                     \
  AVIDA_CLONES void from_keys(T* to, const KeyOf<T>* from, int64_t n) { \
    for (int64_t i = 0; i < n; i++) to[i] = SortKey<T>::back(from[i]);  \
  }
AVIDA_KEYS(float)
AVIDA_KEYS(double)
#undef AVIDA_KEYS

// One row of output, of the tile's rows from `rows` on.
template <class T>
struct MedianRow {
  T* out;
  const T* rows;
  int64_t pitch, inner, n;
  int64_t height, width;  // of the window

  void by_selection(std::vector<T>& kept) const {
    int64_t count = height * width;
    std::vector<const T*> elements(count);
    kept.resize((count / 2 + 3) * kLanes<T>);
    T* memory = aligned(kept.data());
    for (int64_t i = 0; i < n; i += kLanes<T>) {
      for (int64_t k = 0; k < count; k++) elements[k] = rows + k / width * pitch + k % width * inner + i;
      many(out + i, elements.data(), count, std::min(kLanes<T>, n - i), memory);
    }
  }

  // The histogram of the window follows it along the row.
  void by_histogram() const {
    for (int64_t c = 0; c < inner; c++) {
      int64_t counts[256] = {}, below = 0, median = 0;  // elements less than the median
      auto add = [&](int64_t x, int64_t sign) {
        for (int64_t y = 0; y < height; y++) {
          int64_t value = static_cast<int64_t>(rows[y * pitch + x * inner + c]);
          counts[value] += sign;
          below += value < median ? sign : 0;
        }
      };
      for (int64_t x = 0; x < width - 1; x++) add(x, 1);
      for (int64_t x = 0; x < n / inner; x++) {
        add(x + width - 1, 1);
        while (below > height * width / 2) below -= counts[--median];
        while (below + counts[median] <= height * width / 2) below += counts[median++];
        out[x * inner + c] = static_cast<T>(median);
        add(x, -1);
      }
    }
  }

  void by_partition(std::vector<T>& window) const {
    for (int64_t i = 0; i < n; i++) {
      window.clear();
      for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++) window.push_back(rows[y * pitch + x * inner + i]);
      auto half = window.begin() + std::ssize(window) / 2;
      std::nth_element(window.begin(), half, window.end());
      out[i] = *half;
    }
  }

  void run(std::vector<T>& scratch) const {
    int64_t count = height * width;
    if (std::is_same_v<T, uint8_t> && height == 5 && width == 5 && n >= kLanes<T>) {
      if constexpr (std::is_same_v<T, uint8_t>) twenty_five(out, rows, pitch, inner, n);
    } else if (count <= (sizeof(T) == 1 ? kMostSelectedBytes : kMostSelected)) {
      by_selection(scratch);
    } else if (sizeof(T) == 1) {
      by_histogram();
    } else {
      by_partition(scratch);
    }
  }
};

// Makes the rows of a sample by make(part, y, i, out): row y + i of a part, for which rows from y - the window's reach
// on are loaded.
template <class T, class Load, class Make>
void each_made_row(const Sample<MedianBlurArgs>& sample, const Space& space, int64_t rows_at_once, Load&& load,
                   Make&& make) {
  const SampleView& out = sample.out[0];
  const int64_t n = space.row_elements();
  const bool in_place = out.dtype == dtype_of<T>;
  std::vector<T> made(in_place ? 0 : n);
  ConvertRun convert = rounding_run(out.dtype, dtype_of<T>);
  each_run_of_rows(sample.begin, sample.end, space.size[1], rows_at_once, [&](int64_t part, int64_t y, int64_t count) {
    load(part, y, count);
    for (int64_t i = 0; i < count; i++) {
      char* to = out.as<char>() + (part * space.size[1] + y + i) * n * size_of(out.dtype);
      T* row = in_place ? reinterpret_cast<T*>(to) : made.data();
      prefetch_later(to, n * size_of(out.dtype));
      make(i, row);
      if (!in_place) convert(to, row, n);
    }
  });
}

template <class T>
void blur_rows(const Sample<MedianBlurArgs>& sample, const Space& space, const Reach& reach) {
  using Key = KeyOf<T>;
  constexpr bool has_keys = !std::is_same_v<T, Key>;
  PaddedTile<T> tile(space, sample.in[0], reach, Border::clamp, T());
  const int64_t n = space.row_elements(), pitch = tile.pitch();
  std::vector<Key> keys, made(has_keys ? n : 0), scratch;
  auto load = [&](int64_t part, int64_t y, int64_t count) {
    const int64_t rows = count + reach.size(1) - 1;
    tile.load(part, 0, y - reach.before[1], rows);
    if constexpr (has_keys) {
      keys.resize(rows * pitch);
      to_keys(keys.data(), tile.row(0), rows * pitch);
    }
  };
  each_made_row<T>(sample, space, tile.rows_at_once(), load, [&](int64_t i, T* out) {
    MedianRow<Key> row{nullptr, nullptr, pitch, space.inner, n, reach.size(1), reach.size(2)};
    if constexpr (has_keys) {
      row.out = made.data(), row.rows = keys.data() + i * pitch;
      row.run(scratch);
      from_keys(out, made.data(), n);
    } else {
      row.out = out, row.rows = tile.row(i);
      row.run(scratch);
    }
  });
}

template <class T>
void blur_rows_by_nine(const Sample<MedianBlurArgs>& sample, const Space& space, const Reach& reach) {
  PlainRows<T> rows(space, sample.in[0], reach, Border::clamp, T());
  using Key = KeyOf<T>;
  const int64_t n = space.row_elements(), inner = space.inner;
  const int64_t pitch = (n + 2 * inner) / kLanes<Key> * kLanes<Key> + kLanes<Key>;
  std::vector<Key> sorted(inner + 3 * pitch + kLanes<Key>);
  Key* first = aligned(sorted.data() + inner);
  SortedColumns<Key> columns = {first, first + pitch, first + 2 * pitch};
  auto load = [&](int64_t part, int64_t y, int64_t count) { rows.load(part, y - 1, count + 2); };
  each_made_row<T>(sample, space, rows.rows_at_once(), load, [&](int64_t i, T* out) {
    const T *top = rows.row(i), *centre = rows.row(i + 1), *bottom = rows.row(i + 2);
    prefetch_later(bottom, n * static_cast<int64_t>(sizeof(T)));
    if constexpr (std::is_same_v<T, uint8_t>)
      if (median_row(out, top, centre, bottom, inner, n)) return;
    sort_three(columns, top, centre, bottom, n);
    for (Key* line : {columns.low, columns.mid, columns.high}) pad_line(line, space, reach, Border::clamp, Key());
    nine(out, columns, inner, n);
  });
}

template <class T>
void blur_on_host(const Sample<MedianBlurArgs>& sample, const Space& space, const Reach& reach) {
  if constexpr (std::is_same_v<T, uint8_t>)
    if (reach.size(1) * reach.size(2) > kMostSelectedBytes && column_median_fits(reach)) {
      const int64_t height = space.size[1];
      auto make = [&](int64_t part, int64_t y, int64_t count) {
        const int64_t image = part * height * space.row_elements();
        column_median(sample.out[0].as<uint8_t>() + image, sample.in[0].as<uint8_t>() + image, space, reach, y,
                      y + count);
      };
      return each_run_of_rows(sample.begin, sample.end, height, height, make);
    }
  if (reach.size(1) == 3 && reach.size(2) == 3)
    blur_rows_by_nine<T>(sample, space, reach);
  else
    blur_rows<T>(sample, space, reach);
}

struct MedianBlur {
  const SampleView& in;
  const Space space;
  Reach reach;

  explicit MedianBlur(const Sample<MedianBlurArgs>& sample) : in(sample.in[0]), space(space_of(in.shape, in.layout)) {
    for (int i = 0; i < 2; i++) {
      int size = for_axis(sample.args.window_size, i, 2, "window_size");
      if (size < 1 || size % 2 == 0 || size > kLargestWindow)
        refuse("expected an odd window_size from 1 to ", kLargestWindow, ", got ", size);
      reach.before[1 + i] = reach.after[1 + i] = size / 2;
    }
  }

  Shape shape() const { return in.shape; }
  int64_t rows() const { return space.rows(); }
  void run(const Sample<MedianBlurArgs>& sample) const {
    if (space.empty()) return;
    const NeighbourWindow window = reach.window(Border::clamp);
    with_orderable_type(in.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      using Tile = TileMedian<T>;
      each_window<WindowMedian<T>, Tile>(sample, {space, space, window},
                                         {sample.out[0].as<T>(), in.as<T>(), space, window}, TileWork<Tile>{},
                                         [&] { blur_on_host<OrderedType<T>>(sample, space, reach); });
    });
  }
};

}  // namespace

AVIDA_OP_IN(experimental, median_blur, MedianBlurArgs) {
  using Args = MedianBlurArgs;
  op.doc(
        "Replaces each element by the median of the window around it. It removes specks and keeps edges. Beyond the "
        "border the outermost elements are repeated. NaN counts as larger than all numbers.")
      .input("input", "The images, or sequences of them.", {"HW", "HWC", "FHWC", "CHW", "FCHW"})
      .arg("window_size", &Args::window_size, "The size of the window along height and width, odd.")
      .example("avida.experimental.median_blur(image, window_size=[3, 3])")
      .infer([](Infer<Args>& call) { with_orderable_type(call.in[0].dtype, [](auto) {}); })
      .each_sample<MedianBlur>()
      .cost(8);
}

}  // namespace avida::ops
