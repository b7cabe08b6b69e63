#include "loops/resampling/resample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/clones.h"
#include "loops/moving/convert_run.h"
#include "loops/resampling/resample_bytes.h"
#include "loops/resampling/resample_taps.h"
#include "runtime/memory.h"

namespace avida {
namespace {

constexpr int64_t kPad = 4;  // floats that may be read or written after the end of a row

const char* bytes_at(const void* data, DType type, int64_t element) {
  return static_cast<const char*>(data) + element * size_of(type);
}
char* bytes_at(void* data, DType type, int64_t element) { return static_cast<char*>(data) + element * size_of(type); }

// ---- Along a row ----------------------------------------------------------------------------------------------------

using Float4 __attribute__((vector_size(16))) = float;

// Reads and writes four channels, also where there are three.
template <int channels>
AVIDA_INLINE void filter_row_by_four(float* out, const float* in, const ResampleTaps& taps) {
  const int64_t n = static_cast<int64_t>(taps.first.size()), count = taps.count;
  for (int64_t x = 0; x < n; x++) {
    const float* from = in + int64_t{taps.first[x]} * channels;
    const float* weights = taps.weights_of(x);
    Float4 sum = {0, 0, 0, 0};
    for (int64_t k = 0; k < count; k++) {
      Float4 pixel;
      memcpy(&pixel, from + k * channels, sizeof(pixel));
      sum += pixel * weights[k];
    }
    memcpy(out + x * channels, &sum, sizeof(sum));
  }
}

AVIDA_INLINE void filter_row_any(float* out, const float* in, const ResampleTaps& taps, int64_t channels) {
  const int64_t n = static_cast<int64_t>(taps.first.size()), count = taps.count;
  for (int64_t x = 0; x < n; x++, out += channels) {
    const float* from = in + taps.first[x] * channels;
    const float* weights = taps.weights_of(x);
    for (int64_t c = 0; c < channels; c++) out[c] = 0;
    for (int64_t k = 0; k < count; k++, from += channels)
      for (int64_t c = 0; c < channels; c++) out[c] += from[c] * weights[k];
  }
}

AVIDA_CLONES void filter_row(float* out, const float* in, const ResampleTaps& taps, int64_t channels) {
  if (channels == 3)
    filter_row_by_four<3>(out, in, taps);
  else if (channels == 4)
    filter_row_by_four<4>(out, in, taps);
  else if (channels == 1)
    filter_row_any(out, in, taps, 1);
  else
    filter_row_any(out, in, taps, channels);
}

// ---- Across rows ----------------------------------------------------------------------------------------------------

AVIDA_CLONES void mix_rows(float* out, const float* const* rows, const float* weights, int64_t count, int64_t n) {
  if (count == 1) {
    for (int64_t i = 0; i < n; i++) out[i] = rows[0][i] * weights[0];
    return;
  }
  for (int64_t i = 0; i < n; i++) out[i] = rows[0][i] * weights[0] + rows[1][i] * weights[1];
  int64_t k = 2;
  for (; k + 1 < count; k += 2)
    for (int64_t i = 0; i < n; i++) out[i] = out[i] + rows[k][i] * weights[k] + rows[k + 1][i] * weights[k + 1];
  if (k < count)
    for (int64_t i = 0; i < n; i++) out[i] = out[i] + rows[k][i] * weights[k];
}

// Rows that several output rows need, filtered along themselves once.
class FilteredRows {
 public:
  FilteredRows(const ImageResample& image, const void* in, DType in_type, int64_t kept)
      : image_(image),
        in_(in),
        in_type_(in_type),
        to_float_(rounding_run(DType::float32, in_type)),
        in_row_(image.in_columns * image.channels),
        stride_(image.out_columns * image.channels + kPad),
        row_at_(kept, -1) {
    if (image.columns) taps_ = resample_taps(*image.columns);
    rows_ = allocate(kept * stride_ * int64_t{sizeof(float)});
    source_ = allocate((in_row_ + kPad) * int64_t{sizeof(float)});
  }

  const float* row(int64_t y) {
    const void* from = bytes_at(in_, in_type_, y * in_row_);
    if (!taps_ && in_type_ == DType::float32) return static_cast<const float*>(from);
    size_t slot = static_cast<size_t>(y) % row_at_.size();
    float* to = static_cast<float*>(rows_.get()) + static_cast<int64_t>(slot) * stride_;
    if (row_at_[slot] == y) return to;
    row_at_[slot] = y;
    if (!taps_) {
      to_float_(to, from, in_row_);
      return to;
    }
    // The last row is copied too: nothing may be read after its end.
    const float* source = static_cast<const float*>(from);
    if (in_type_ != DType::float32 || y + 1 == image_.in_rows) {
      source = static_cast<float*>(source_.get());
      to_float_(source_.get(), from, in_row_);
    }
    filter_row(to, source, *taps_, image_.channels);
    return to;
  }

 private:
  const ImageResample& image_;
  const void* in_;
  DType in_type_;
  ConvertRun to_float_;
  std::shared_ptr<const ResampleTaps> taps_;
  int64_t in_row_, stride_;
  std::vector<int64_t> row_at_;  // which row each slot holds
  Block rows_, source_;
};

void resample_floats(const ImageResample& image, const void* in, DType in_type, void* out, DType out_type,
                     int64_t begin, int64_t end) {
  std::shared_ptr<const ResampleTaps> taps = image.rows ? resample_taps(*image.rows) : nullptr;
  const int64_t count = taps ? taps->count : 1, out_row = image.out_columns * image.channels;
  FilteredRows filtered(image, in, in_type, count);
  std::vector<const float*> rows(count);
  Block mixed = allocate(out_row * int64_t{sizeof(float)});
  ConvertRun from_float = rounding_run(out_type, DType::float32);
  for (int64_t y = begin; y < end; y++) {
    char* to = bytes_at(out, out_type, y * out_row);
    if (!taps) {
      from_float(to, filtered.row(y), out_row);
      continue;
    }
    for (int64_t k = 0; k < count; k++) rows[k] = filtered.row(taps->first[y] + k);
    bool direct = out_type == DType::float32;
    float* sum = static_cast<float*>(direct ? to : mixed.get());
    mix_rows(sum, rows.data(), taps->weights_of(y), count, out_row);
    if (!direct) from_float(to, sum, out_row);
  }
}

// ---- Nearest element: bytes are moved -------------------------------------------------------------------------------

template <int64_t size>
void pick_pixels(char* out, const char* in, const std::vector<int32_t>& from) {
  for (size_t x = 0; x < from.size(); x++) memcpy(out + static_cast<int64_t>(x) * size, in + from[x] * size, size);
}

void pick_row(char* out, const char* in, const std::vector<int32_t>& from, int64_t pixel) {
  switch (pixel) {
    case 1:
      return pick_pixels<1>(out, in, from);
    case 2:
      return pick_pixels<2>(out, in, from);
    case 3:
      return pick_pixels<3>(out, in, from);
    case 4:
      return pick_pixels<4>(out, in, from);
    case 8:
      return pick_pixels<8>(out, in, from);
    case 12:
      return pick_pixels<12>(out, in, from);
    default:
      for (size_t x = 0; x < from.size(); x++)
        memcpy(out + static_cast<int64_t>(x) * pixel, in + from[x] * pixel, pixel);
  }
}

void pick_nearest(const ImageResample& image, const char* in, char* out, int64_t element, int64_t begin, int64_t end) {
  auto rows = image.rows ? resample_taps(*image.rows) : nullptr;
  auto columns = image.columns ? resample_taps(*image.columns) : nullptr;
  const int64_t pixel = image.channels * element, in_row = image.in_columns * pixel,
                out_row = image.out_columns * pixel;
  for (int64_t y = begin; y < end; y++) {
    char* to = out + y * out_row;
    if (rows && y > begin && rows->first[y] == rows->first[y - 1]) {
      memcpy(to, to - out_row, out_row);
      continue;
    }
    const char* from = in + (rows ? rows->first[y] : y) * in_row;
    if (columns)
      pick_row(to, from, columns->first, pixel);
    else
      memcpy(to, from, out_row);
  }
}

bool moves_only(const std::optional<ResampleAxis>& axis) { return !axis || axis->filter == ResampleFilter::nearest; }

}  // namespace

void resample_image(const ImageResample& image, const void* in, DType in_type, void* out, DType out_type, int64_t begin,
                    int64_t end) {
  if (in_type == out_type && moves_only(image.rows) && moves_only(image.columns))
    pick_nearest(image, static_cast<const char*>(in), static_cast<char*>(out), size_of(in_type), begin, end);
  else if (in_type == DType::uint8 && out_type == DType::uint8 && suits_bytes(image))
    resample_bytes(image, static_cast<const uint8_t*>(in), static_cast<uint8_t*>(out), begin, end);
  else
    resample_floats(image, in, in_type, out, out_type, begin, end);
}

bool is_identity(const ResampleAxis& axis) {
  return axis.in == axis.out && axis.start == 0 && axis.end == static_cast<float>(axis.in) &&
         axis.filter != ResampleFilter::gaussian;
}

// Elements that lie whole steps further on, inside of the input.
static bool is_shift(const ResampleAxis& axis) {
  return axis.filter == ResampleFilter::linear && axis.start == std::floor(axis.start) && axis.start >= 0 &&
         axis.end - axis.start == static_cast<float>(axis.out) && axis.end <= static_cast<float>(axis.in);
}

// ---- Samples of any rank --------------------------------------------------------------------------------------------

Resample::Resample(const Shape& in_shape, std::span<const std::optional<ResampleAxis>> given, DType in_type,
                   DType out_type)
    : in_type_(in_type), out_type_(out_type) {
  const int ndim = in_shape.size();
  const ResampleAxis* axes[kMaxDim];  // null where nothing changes
  for (int d = 0; d < ndim; d++) {
    empty_ |= (given[d] ? given[d]->out : in_shape[d]) == 0;
    axes[d] = given[d] && !is_identity(*given[d]) ? &*given[d] : nullptr;
  }
  const auto shifted = [&](const ResampleAxis* axis) { return !axis || is_shift(*axis); };
  if (in_type == out_type && !empty_ && std::all_of(axes, axes + ndim, shifted)) {
    const Shape strides = dense_strides(in_shape);
    Shape shape = in_shape;
    for (int d = 0; d < ndim; d++)
      if (axes[d]) {
        shape[d] = axes[d]->out;
        first_ += static_cast<int64_t>(axes[d]->start) * strides[d];
      }
    first_ *= size_of(in_type);
    shift_.emplace(size_of(in_type), shape, strides);
    return;
  }
  // From the end: channels, then an axis for the columns, then one for the rows.
  int last = ndim;
  auto next_axis = [&] { return last > 0 && axes[last - 1]; };
  auto merge = [&] {
    int64_t product = 1;
    while (last > 0 && !next_axis()) product *= in_shape[--last];
    return product;
  };
  image_.channels = merge();
  bool is_pair = last >= 2 && axes[last - 1] && axes[last - 2];
  if (last > 0 && (is_pair || image_.channels == 1)) {
    image_.columns = *axes[--last];
    image_.in_columns = image_.columns->in;
    image_.out_columns = image_.columns->out;
  }
  if (next_axis()) {
    image_.rows = *axes[--last];
    image_.in_rows = image_.rows->in;
    image_.out_rows = image_.rows->out;
    repeats_ = merge();
  } else {
    image_.in_rows = image_.out_rows = merge();
  }
  int64_t in_slice = repeats_ * image_.in_rows * image_.in_columns * image_.channels;
  int64_t out_slice = repeats_ * image_.out_rows * image_.out_columns * image_.channels;
  while (last > 0) {
    const ResampleAxis& axis = *axes[--last];
    const int64_t repeats = merge();
    mixes_.insert(mixes_.begin(), {axis, in_slice, out_slice, repeats});
    in_slice *= axis.in * repeats;
    out_slice *= axis.out * repeats;
  }
}

int64_t Resample::rows_at(size_t level) const {
  return level < mixes_.size() ? mixes_[level].repeats * mixes_[level].axis.out : repeats_ * image_.out_rows;
}

int64_t Resample::rows() const { return shift_ ? shift_->rows() : rows_at(0); }

void Resample::run_level(size_t level, void* out, const void* in, DType in_type, int64_t begin, int64_t end) const {
  if (level == mixes_.size()) {
    const int64_t in_image = image_.in_rows * image_.in_columns * image_.channels;
    const int64_t out_image = image_.out_rows * image_.out_columns * image_.channels;
    for (int64_t row = begin; row < end;) {
      int64_t which = row / image_.out_rows, first = which * image_.out_rows;
      int64_t stop = std::min(end, first + image_.out_rows);
      resample_image(image_, bytes_at(in, in_type, which * in_image), in_type,
                     bytes_at(out, out_type_, which * out_image), out_type_, row - first, stop - first);
      row = stop;
    }
    return;
  }
  const Mix& mix = mixes_[level];
  auto taps = resample_taps(mix.axis);
  ConvertRun to_float = rounding_run(DType::float32, in_type);
  Block slice, part;
  for (int64_t row = begin; row < end; row++) {
    int64_t repeat = row / mix.axis.out, i = row % mix.axis.out;
    auto slice_at = [&](int64_t k) {
      return bytes_at(in, in_type, (repeat * mix.axis.in + taps->first[i] + k) * mix.in_slice);
    };
    void* to = bytes_at(out, out_type_, row * mix.out_slice);
    if (taps->moves_only) {
      run_level(level + 1, to, slice_at(0), in_type, 0, rows_at(level + 1));
      continue;
    }
    if (!slice) {
      slice = allocate(mix.in_slice * int64_t{sizeof(float)});
      part = allocate(mix.in_slice * int64_t{sizeof(float)});
    }
    float* sum = static_cast<float*>(slice.get());
    float* term = static_cast<float*>(part.get());
    const float* terms[] = {sum, term};
    for (int64_t k = 0; k < taps->count; k++) {
      float weights[] = {k ? 1 : taps->weights_of(i)[0], taps->weights_of(i)[k]};
      to_float(k ? term : sum, slice_at(k), mix.in_slice);
      mix_rows(sum, terms, weights, k ? 2 : 1, mix.in_slice);
    }
    run_level(level + 1, to, sum, DType::float32, 0, rows_at(level + 1));
  }
}

}  // namespace avida
