// The family of convolutions along the spatial axes, one after the other, with windows of odd size. Beyond the border
// samples are reflected, without their outermost elements.
//
// Rows are made one by one: a row is summed of rows of neighbouring slices, then of neighbouring rows, then along
// itself. The rows that the next one needs too are kept, so that everything stays in the cache.
#pragma once
#include <algorithm>
#include <array>

#include "op/row_sums.h"
#include "op/space.h"

namespace avida {

using Windows = std::array<SymmetricWindow, 3>;  // for depth, height, width

// T is the type that sums are computed in: float, or Fixed for bytes.
template <class T>
class SeparableRows {
 public:
  SeparableRows(const Space& space, const SampleView& in, const Windows& windows)
      : space_(space),
        in_(in),
        n_(space.row_elements()),
        along_depth_(windows[0]),
        along_height_(windows[1]),
        along_width_(windows[2]),
        kept_rows_(std::min(2 * along_height_.radius() + 1, space.size[1])),
        kept_(kept_rows_, std::vector<T>()),
        kept_at_(kept_rows_, nullptr),
        line_(n_ + 2 * along_width_.radius() * space.inner),
        result_(along_width_.radius() ? n_ : 0) {}

  // Row number `row` of all, which stays until the next call. Rows are asked for in ascending order.
  const T* row(int64_t row) {
    int64_t slice = row / space_.size[1], y = row % space_.size[1];
    if (slice != slice_) slice_ = slice, loaded_ = 0;
    int64_t radius = along_height_.radius(), height = space_.size[1];
    int64_t first = radius < height ? std::max<int64_t>(0, y - radius) : 0;
    int64_t end = radius < height ? std::min(height, y + radius + 1) : height;
    loaded_ = std::max(loaded_, first);
    for (; loaded_ < end; loaded_++) kept_at_[loaded_ % kept_rows_] = slice_row(loaded_, kept_[loaded_ % kept_rows_]);
    if (radius == 0) return along_row(kept_at_[y % kept_rows_]);
    neighbours_.resize(2 * radius + 1);
    for (int64_t k = -radius; k <= radius; k++)
      neighbours_[radius + k] = kept_at_[source_index(y + k, height, OutOfBounds::reflect_101) % kept_rows_];
    T* line = line_.data() + along_width_.radius() * space_.inner;
    symmetric_sum(line, neighbours_.data(), along_height_, n_);
    return along_row(line);
  }

 private:
  // A row of the input, converted, where it lies or in `place`.
  const T* input_row(int64_t slice, int64_t y, std::vector<T>& place) {
    const char* from = in_.as<char>() + (slice * space_.size[1] + y) * n_ * size_of(in_.dtype);
    if (in_.dtype == dtype_of<T> && std::is_same_v<T, float>) return reinterpret_cast<const T*>(from);
    place.resize(n_);
    if constexpr (std::is_same_v<T, float>)
      to_float_(place.data(), from, n_);
    else
      fixed_from_bytes(place.data(), reinterpret_cast<const uint8_t*>(from), n_);
    return place.data();
  }

  // A row after the sum along depth.
  const T* slice_row(int64_t y, std::vector<T>& place) {
    int64_t radius = along_depth_.radius(), depth = space_.size[0];
    if (radius == 0) return input_row(slice_, y, place);
    int64_t part = slice_ / depth * depth, z = slice_ % depth;
    slices_.resize(2 * radius + 1);
    neighbours_.resize(2 * radius + 1);
    for (int64_t k = -radius; k <= radius; k++) {
      int64_t from = part + source_index(z + k, depth, OutOfBounds::reflect_101);
      neighbours_[radius + k] = input_row(from, y, slices_[radius + k]);
    }
    place.resize(n_);
    symmetric_sum(place.data(), neighbours_.data(), along_depth_, n_);
    return place.data();
  }

  const T* along_row(const T* row) {
    int64_t radius = along_width_.radius(), inner = space_.inner, width = space_.size[2];
    if (radius == 0) return row;
    T* line = line_.data() + radius * inner;
    if (row != line) std::copy(row, row + n_, line);
    auto reflect = [&](int64_t x) {
      const T* from = line + source_index(x, width, OutOfBounds::reflect_101) * inner;
      std::copy(from, from + inner, line + x * inner);
    };
    for (int64_t k = 1; k <= radius; k++) reflect(-k), reflect(width - 1 + k);
    neighbours_.resize(2 * radius + 1);
    for (int64_t k = 0; k <= 2 * radius; k++) neighbours_[k] = line_.data() + k * inner;
    symmetric_sum(result_.data(), neighbours_.data(), along_width_, n_);
    return result_.data();
  }

  const Space space_;
  const SampleView& in_;
  const int64_t n_;
  const HalfWeights<T> along_depth_, along_height_, along_width_;
  const int64_t kept_rows_;
  const ConvertRun to_float_ = rounding_run(DType::float32, in_.dtype);
  int64_t slice_ = -1, loaded_ = 0;  // rows of this slice before loaded_ were made; the last ones are kept
  std::vector<std::vector<T>> kept_;
  std::vector<const T*> kept_at_, neighbours_;
  std::vector<std::vector<T>> slices_;
  std::vector<T> line_, result_;
};

}  // namespace avida
