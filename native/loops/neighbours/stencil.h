// Rows of a sample on the CPU, padded with what lies beyond the border, so that loops over neighbours need no tests.
#pragma once
#include <algorithm>
#include <vector>

#include "loops/neighbours/byte_sums.h"
#include "loops/neighbours/space.h"

namespace avida {

// How far a window reaches: along depth, height and width.
struct Reach {
  int64_t before[3] = {0, 0, 0}, after[3] = {0, 0, 0};

  int64_t size(int i) const { return before[i] + 1 + after[i]; }
  NeighbourWindow window(Border border) const {
    return {{before[0], before[1], before[2]}, {size(0), size(1), size(2)}, border};
  }
};

// Fills in the points before and after a row that windows reach. These are few: loops are faster than calls of memmove.
template <class T>
void pad_line(T* line, const Space& space, const Reach& reach, Border border, T fill) {
  const int64_t width = space.size[2], inner = space.inner;
  if (border == Border::fill) {
    std::fill_n(line - reach.before[2] * inner, reach.before[2] * inner, fill);
    std::fill_n(line + width * inner, reach.after[2] * inner, fill);
    return;
  }
  auto pad = [&](int64_t x) {
    const T* from = line + border_index<int64_t>(border, x, width) * inner;
    T* to = line + x * inner;
    for (int64_t c = 0; c < inner; c++) to[c] = from[c];
  };
  for (int64_t k = 1; k <= reach.before[2]; k++) pad(-k);
  for (int64_t k = 0; k < reach.after[2]; k++) pad(width + k);
}

// Rows come from memory, and go there, more slowly than small windows are computed, and hardware does not look beyond a
// page: asks for the bytes of a row that is about a page further on than this one.
inline void prefetch_later(const void* row, int64_t bytes) {
  constexpr int64_t kPage = 4096, kLine = 64;
  for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(static_cast<const char*>(row) + kPage + i);
}

// Rows of a sample as T, each with the points before and after it that windows reach.
template <class T>
class PaddedTile {
 public:
  PaddedTile(const Space& space, const SampleView& in, const Reach& reach, Border border, T fill)
      : space_(space),
        in_(in),
        reach_(reach),
        border_(border),
        fill_(fill),
        pitch_((space.size[2] + reach.before[2] + reach.after[2]) * space.inner),
        convert_(rounding_run(dtype_of<T>, in.dtype)) {}

  // Rows y ... y + count - 1 of a part's slice z, all of which may lie beyond the border.
  void load(int64_t part, int64_t z, int64_t y, int64_t count) {
    reserve(count);
    for (int64_t i = 0; i < count; i++) load_row(i, part, z, y + i);
  }
  void reserve(int64_t rows) { data_.resize(std::max<size_t>(data_.size(), rows * pitch_ + kReadBeyond)); }

  // One of them, as row i of those that room was made for.
  const T* load_row(int64_t i, int64_t part, int64_t z, int64_t y) {
    int64_t from_z = border_index<int64_t>(border_, z, space_.size[0]);
    int64_t from_y = border_index<int64_t>(border_, y, space_.size[1]), n = space_.row_elements();
    if (from_z < 0 || from_y < 0) {
      std::fill_n(row(i), pitch_, fill_);
    } else {
      T* line = row(i) + reach_.before[2] * space_.inner;
      int64_t number = (part * space_.size[0] + from_z) * space_.size[1] + from_y;
      const int64_t bytes = n * size_of(in_.dtype);
      const char* from = in_.as<char>() + number * bytes;
      prefetch_later(from, bytes);
      convert_(line, from, n);
      pad_line(line, space_, reach_, border_, fill_);
    }
    return row(i);
  }

  int64_t pitch() const { return pitch_; }
  // Row i begins with the first point that the window of its first element reaches.
  T* row(int64_t i) { return data_.data() + i * pitch_; }

  // How many output rows to make of one tile: it should stay in the cache, and rows that are loaded twice be few.
  int64_t rows_at_once() const {
    constexpr int64_t kTileBytes = 128 << 10;
    return std::max(reach_.size(1), kTileBytes / std::max<int64_t>(1, pitch_ * static_cast<int64_t>(sizeof(T))));
  }

 private:
  const Space space_;
  const SampleView& in_;
  const Reach reach_;
  const Border border_;
  const T fill_;
  const int64_t pitch_;
  const ConvertRun convert_;
  std::vector<T> data_;
};

// Rows of a sample as T with those above and below that windows reach, but nothing before and after them. They stay
// where they are, if T is their type.
template <class T>
class PlainRows {
 public:
  PlainRows(const Space& space, const SampleView& in, const Reach& reach, Border border, T fill)
      : space_(space), in_(in), border_(border), tile_(space, in, along_height(reach), border, fill) {}

  bool in_place() const { return in_.dtype == dtype_of<T>; }
  int64_t rows_at_once() const { return tile_.rows_at_once(); }

  // Rows y ... y + count - 1 of a part.
  void load(int64_t part, int64_t y, int64_t count) {
    part_ = part;
    y_ = y;
    if (!in_place()) tile_.load(part, 0, y, count);
  }

  // Row i of those loaded; null: there is nothing but the fill value.
  const T* row(int64_t i) {
    if (!in_place()) return tile_.row(i);
    int64_t y = border_index<int64_t>(border_, y_ + i, space_.size[1]);
    return y < 0 ? nullptr : in_.as<T>() + (part_ * space_.size[1] + y) * space_.row_elements();
  }

 private:
  static Reach along_height(Reach reach) {
    reach.before[2] = reach.after[2] = 0;
    return reach;
  }

  const Space space_;
  const SampleView& in_;
  const Border border_;
  PaddedTile<T> tile_;
  int64_t part_ = 0, y_ = 0;
};

// Calls fn(part, y, count) for runs of rows, at most `most` of one part, that make up rows [begin, end) of images.
template <class Fn>
void each_run_of_rows(int64_t begin, int64_t end, int64_t height, int64_t most, Fn&& fn) {
  for (int64_t row = begin; row < end;) {
    int64_t y = row % height, count = std::min({most, height - y, end - row});
    fn(row / height, y, count);
    row += count;
  }
}

// The type that elements are compared in: it represents all values of the element type.
template <class T>
constexpr auto ordered_type() {
  if constexpr (std::is_same_v<T, bool>)
    return Type<uint8_t>{};
  else if constexpr (std::is_same_v<T, int8_t>)
    return Type<int16_t>{};
  else if constexpr (std::is_same_v<T, uint32_t>)
    return Type<double>{};
  else if constexpr (TypeTraits<T>::is_float && sizeof(T) == 2)
    return Type<float>{};
  else
    return Type<T>{};
}
template <class T>
using OrderedType = typename decltype(ordered_type<T>())::type;

template <class Fn>
void with_orderable_type(DType dtype, Fn&& fn) {
  with_dtype(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (sizeof(T) <= 4 || TypeTraits<T>::is_float)
      fn(type);
    else
      refuse("expected elements of at most 32 bits, or float64, got ", dtype);
  });
}

}  // namespace avida
