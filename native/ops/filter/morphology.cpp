#include <limits>

#include "core/clones.h"
#include "loops/neighbours/each_window.h"
#include "loops/neighbours/stencil.h"
#include "operator/declare.h"

namespace avida::ops {
namespace {

struct MorphologyArgs {
  std::vector<int> anchor = {-1, -1};
  Border border_mode = Border::fill;
  int iterations = 1;
  std::vector<int> mask_size = {3, 3};
};

constexpr int64_t kMostRows = 5;  // compared in one loop

// out[i] is the largest, or the smallest, of all rows' element i. The output may begin where the first row does, and
// the others further on in it: each element is read before, or when, it is overwritten.
template <bool larger, int count, class T>
AVIDA_INLINE void pick_of(T* out, const T* const* rows, int64_t n) {
  const T* row[count];
  for (int k = 0; k < count; k++) row[k] = rows[k];
#pragma GCC ivdep
  for (int64_t i = 0; i < n; i++) {
    T picked = row[0][i];
    for (int k = 1; k < count; k++) picked = pick_of_two<larger>(picked, row[k][i]);
    out[i] = picked;
  }
}
template <bool larger, class T>
AVIDA_INLINE void pick_some(T* out, const T* const* rows, int64_t count, int64_t n) {
  switch (count) {
    case 1:
      if (out != rows[0]) pick_of<larger, 1>(out, rows, n);
      return;
    case 2:
      return pick_of<larger, 2>(out, rows, n);
    case 3:
      return pick_of<larger, 3>(out, rows, n);
    case 4:
      return pick_of<larger, 4>(out, rows, n);
    default:
      return pick_of<larger, kMostRows>(out, rows, n);
  }
}

#define AVIDA_PICK(T)                                                                                \
  AVIDA_CLONES void pick_rows(bool larger, T* out, const T* const* rows, int64_t count, int64_t n) { \
    larger ? pick_some<true>(out, rows, count, n) : pick_some<false>(out, rows, count, n);           \
  }
AVIDA_PICK(uint8_t)
AVIDA_PICK(uint16_t)
AVIDA_PICK(int16_t)
AVIDA_PICK(int32_t)
AVIDA_PICK(float)
AVIDA_PICK(double)
#undef AVIDA_PICK

// Where to begin with the k-th of the windows of `reached` elements that make up one of `window`: they may overlap.
int64_t part_of_window(int64_t k, int64_t reached, int64_t window) { return std::min(k * reached, window - reached); }

// data[i] becomes the largest (smallest) of data[i], data[i + step] ... as far as is needed for one more loop over
// kMostRows of them to reach all of the window: returns how many elements that is. What holds for 1, 5, 25 ... elements
// gives five times as many.
template <class T>
int64_t pick_along(bool larger, T* data, int64_t window, int64_t step, int64_t n) {
  int64_t reached = 1;
  while (reached * kMostRows < window) {
    int64_t next = reached * kMostRows;
    const T* parts[kMostRows];
    for (int64_t k = 0; k < kMostRows; k++) parts[k] = data + k * reached * step;
    pick_rows(larger, data, parts, kMostRows, n - (next - 1) * step);
    reached = next;
  }
  return reached;
}

// What lies beyond a filled border.
template <class T, bool larger>
constexpr T kNeverPicked = [] {
  using Limits = std::numeric_limits<T>;
  if (Limits::has_infinity) return larger ? static_cast<T>(-Limits::infinity()) : Limits::infinity();
  return larger ? Limits::lowest() : Limits::max();
}();

// Each row with those below it: the largest (smallest) of as many as are needed for one more loop over kMostRows of
// them to reach all of a window. Rows are made when they are asked for, in ascending order, and kept while windows
// reach them, so that they stay in the cache.
template <class T>
class PickedRows {
 public:
  PickedRows(PlainRows<T>& rows, bool larger, T never_picked, int64_t window, int64_t n)
      : rows_(rows), larger_(larger), never_picked_(never_picked), n_(n) {
    for (; reached_ * kMostRows < window; reached_ *= kMostRows) {
      const int64_t next = reached_ * kMostRows, last = std::min(next * kMostRows, window) - next;
      levels_.push_back({reached_, last + 1, std::vector<T>((last + 1) * n)});
    }
  }

  int64_t reached() const { return reached_; }
  // After other rows were loaded.
  void restart() {
    for (Level& level : levels_) level.made = 0;
  }
  // Null: there is nothing but the fill value.
  const T* row(int64_t i) { return row_of(std::ssize(levels_), i); }

 private:
  struct Level {
    int64_t apart;  // the rows below that one is made of
    int64_t count;  // of rows that are kept
    std::vector<T> rows;
    int64_t made = 0;
  };

  const T* row_of(int64_t levels, int64_t i) {
    if (levels == 0) return rows_.row(i);
    Level& level = levels_[levels - 1];
    auto place = [&](int64_t row) { return level.rows.data() + row % level.count * n_; };
    for (; level.made <= i; level.made++) {
      const T* parts[kMostRows];
      int64_t found = 0;
      for (int64_t k = 0; k < kMostRows; k++)
        if (const T* part = row_of(levels - 1, level.made + k * level.apart)) parts[found++] = part;
      if (found > 0)
        pick_rows(larger_, place(level.made), parts, found, n_);
      else
        std::fill_n(place(level.made), n_, never_picked_);
    }
    return place(i);
  }

  PlainRows<T>& rows_;
  const bool larger_;
  const T never_picked_;
  const int64_t n_;
  int64_t reached_ = 1;
  std::vector<Level> levels_;
};

template <class T>
void pick_in_rows(const Sample<MorphologyArgs>& sample, const Space& space, const Reach& reach, Border border,
                  bool larger, T never_picked) {
  const SampleView &in = sample.in[0], &out = sample.out[0];
  ConvertRun convert = rounding_run(out.dtype, dtype_of<T>);
  const int64_t n = space.row_elements(), inner = space.inner, height = reach.size(1), width = reach.size(2);
  PlainRows<T> rows(space, in, reach, border, never_picked);
  PickedRows<T> picked(rows, larger, never_picked, height, n);
  std::vector<T> padded(n + (width - 1) * inner), made(rows.in_place() ? 0 : n);
  T* line = padded.data() + reach.before[2] * inner;

  each_run_of_rows(sample.begin, sample.end, space.size[1], rows.in_place() ? space.size[1] : rows.rows_at_once(),
                   [&](int64_t part, int64_t y, int64_t count) {
                     rows.load(part, y - reach.before[1], count + height - 1);
                     picked.restart();
                     for (int64_t i = 0; i < count; i++) {
                       const int64_t first = (part * space.size[1] + y + i) * n;
                       char* to = out.as<char>() + first * size_of(out.dtype);
                       if (rows.in_place())
                         prefetch_later(in.as<T>() + first + reach.after[1] * n, n * size_of(in.dtype));
                       prefetch_later(to, n * size_of(out.dtype));
                       const T* parts[kMostRows];
                       int64_t found = 0;
                       for (int64_t k = 0; k * picked.reached() < height; k++)
                         if (const T* row = picked.row(i + part_of_window(k, picked.reached(), height)))
                           parts[found++] = row;
                       pick_rows(larger, line, parts, found, n);

                       pad_line(line, space, reach, border, never_picked);
                       int64_t along = pick_along(larger, padded.data(), width, inner, std::ssize(padded)), pieces = 0;
                       for (; pieces * along < width; pieces++)
                         parts[pieces] = padded.data() + part_of_window(pieces, along, width) * inner;
                       T* row = rows.in_place() ? reinterpret_cast<T*>(to) : made.data();
                       pick_rows(larger, row, parts, pieces, n);
                       if (!rows.in_place()) convert(to, row, n);
                     }
                   });
}

template <bool larger>
struct Morphology {
  const SampleView& in;
  const Space space;
  const Border border;
  Reach reach;

  // Repeating is the same as doing it once with a larger mask.
  explicit Morphology(const Sample<MorphologyArgs>& sample)
      : in(sample.in[0]), space(space_of(in.shape, in.layout)), border(sample.args.border_mode) {
    const MorphologyArgs& args = sample.args;
    if (args.iterations < 0) refuse("expected iterations of at least 0, got ", args.iterations);
    for (int i = 0; i < 2; i++) {
      int64_t size = for_axis(args.mask_size, i, 2, "mask_size"), anchor = for_axis(args.anchor, i, 2, "anchor");
      if (size < 1) refuse("expected a mask_size of at least 1, got ", size);
      if (anchor == -1) anchor = size / 2;
      if (anchor < 0 || anchor >= size) refuse("expected an anchor from 0 to ", size - 1, ", or -1, got ", anchor);
      int64_t most = 2 * space.size[1 + i];  // beyond, whatever the border is, nothing new is seen
      reach.before[1 + i] = std::min(anchor * args.iterations, most);
      reach.after[1 + i] = std::min((size - 1 - anchor) * args.iterations, most);
    }
  }

  Shape shape() const { return in.shape; }
  int64_t rows() const { return space.rows(); }
  void run(const Sample<MorphologyArgs>& sample) const {
    if (space.empty()) return;
    const NeighbourWindow window = reach.window(border);
    with_orderable_type(in.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      using Ordered = OrderedType<T>;
      using Tile = TilePick<T, larger>;
      each_window<WindowPick<T, larger>, Tile>(
          sample, {space, space, window}, {sample.out[0].as<T>(), in.as<T>(), space, window},
          TileWork<Tile>{kNeverPicked<T, larger>, {}},
          [&] { pick_in_rows<Ordered>(sample, space, reach, border, larger, kNeverPicked<Ordered, larger>); });
    });
  }
};

template <bool larger>
void declare_morphology(Op<MorphologyArgs>& op) {
  using Args = MorphologyArgs;
  op.input("input", "The images, or sequences of them.", {"HW", "HWC", "FHWC", "CHW", "FCHW"})
      .arg("anchor", &Args::anchor,
           "The element of the mask that lies over the element computed, along height and width; -1 is the middle.")
      .arg("border_mode", &Args::border_mode,
           "What lies beyond the border: \"constant\" (nothing that would be picked), \"replicate\", \"reflect\", "
           "\"reflect_101\" or \"wrap\".")
      .arg("iterations", &Args::iterations, "The count of repetitions: each enlarges the mask by its size less 1.",
           fixed)
      .arg("mask_size", &Args::mask_size, "The size of the mask along height and width.")
      .infer([](Infer<Args>& call) { with_orderable_type(call.in[0].dtype, [](auto) {}); })
      .template each_sample<Morphology<larger>>()
      .cost(2);
}

}  // namespace

AVIDA_OP_IN(experimental, dilate, MorphologyArgs) {
  op.doc("Replaces each element by the largest one under a mask. Bright parts of images grow.")
      .example("avida.experimental.dilate(image, mask_size=[3, 5])");
  declare_morphology<true>(op);
}

AVIDA_OP_IN(experimental, erode, MorphologyArgs) {
  op.doc("Replaces each element by the smallest one under a mask. Bright parts of images shrink.")
      .example("avida.experimental.erode(image, mask_size=[3, 5])");
  declare_morphology<false>(op);
}

}  // namespace avida::ops
