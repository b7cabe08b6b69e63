// The family of operators that look at all elements of a window around each element: rows are loaded into tiles that
// also have what lies beyond the border, so that loops over neighbours need no tests.
#pragma once
#include <algorithm>
#include <vector>

#include "op/space.h"

namespace avida {

// How far a window reaches: along depth, height and width.
struct Reach {
  int64_t before[3] = {0, 0, 0}, after[3] = {0, 0, 0};

  int64_t size(int i) const { return before[i] + 1 + after[i]; }
};

// Rows of a sample as T, each with the points before and after it that windows reach.
template <class T>
class PaddedTile {
 public:
  // `convert` makes elements of type T of the input's; by default it keeps their value.
  PaddedTile(const Space& space, const SampleView& in, const Reach& reach, OutOfBounds border, T fill,
             ConvertRun convert = nullptr)
      : space_(space),
        in_(in),
        reach_(reach),
        border_(border),
        fill_(fill),
        pitch_((space.size[2] + reach.before[2] + reach.after[2]) * space.inner),
        convert_(convert ? convert : rounding_run(dtype_of<T>, in.dtype)) {}

  // Rows y ... y + count - 1 of a part's slice z, all of which may lie beyond the border.
  void load(int64_t part, int64_t z, int64_t y, int64_t count) {
    data_.resize(std::max<size_t>(data_.size(), count * pitch_));
    int64_t from_z = source_index(z, space_.size[0], border_);
    for (int64_t i = 0; i < count; i++) {
      int64_t from_y = source_index(y + i, space_.size[1], border_);
      T* row = data_.data() + i * pitch_;
      if (from_z < 0 || from_y < 0)
        std::fill(row, row + pitch_, fill_);
      else
        load_row(row, (part * space_.size[0] + from_z) * space_.size[1] + from_y);
    }
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
  void load_row(T* row, int64_t number) {
    int64_t width = space_.size[2], inner = space_.inner, n = space_.row_elements();
    T* line = row + reach_.before[2] * inner;
    convert_(line, in_.as<char>() + number * n * size_of(in_.dtype), n);
    auto pad = [&](int64_t x) {
      int64_t from = source_index(x, width, border_);
      if (from < 0)
        std::fill_n(line + x * inner, inner, fill_);
      else
        std::copy_n(line + from * inner, inner, line + x * inner);
    };
    for (int64_t k = 1; k <= reach_.before[2]; k++) pad(-k);
    for (int64_t k = 0; k < reach_.after[2]; k++) pad(width + k);
  }

  const Space space_;
  const SampleView& in_;
  const Reach reach_;
  const OutOfBounds border_;
  const T fill_;
  const int64_t pitch_;
  const ConvertRun convert_;
  std::vector<T> data_;
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

// The type that elements are compared in; all values of the element type have their own in it.
template <class Fn>
decltype(auto) with_ordered_type(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::uint8:
    case DType::boolean:
      return fn(Type<uint8_t>{});
    case DType::uint16:
      return fn(Type<uint16_t>{});
    case DType::int8:
    case DType::int16:
      return fn(Type<int16_t>{});
    case DType::int32:
      return fn(Type<int32_t>{});
    case DType::float16:
    case DType::bfloat16:
    case DType::float32:
      return fn(Type<float>{});
    case DType::uint32:
    case DType::float64:
      return fn(Type<double>{});
    default:
      fail(ErrorKind::runtime, "expected elements of at most 32 bits, or float64, got ", dtype);
  }
}

}  // namespace avida
