#include "loops/resampling/resample_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/clones.h"
#include "loops/resampling/recent.h"
#include "loops/resampling/resample.h"
#include "runtime/memory.h"

namespace avida {
namespace bytes {
namespace {

template <int channels>
AVIDA_INLINE void filter_row_of(int16_t* out, const uint8_t* in, const Taps& taps) {
  constexpr int lanes = lanes_of(channels);
  const int64_t n = static_cast<int64_t>(taps.first.size()), count = taps.count;
  for (int64_t x = 0; x < n; x++, out += lanes) {
    const uint8_t* from = in + int64_t{taps.first[x]} * channels;
    const int16_t* weights = taps.weights_of(x);
    int sum[channels];
    for (int c = 0; c < channels; c++) sum[c] = 1 << (kRowShift - 1);
    for (int64_t k = 0; k < count; k++, from += channels)
      for (int c = 0; c < channels; c++) sum[c] += from[c] * weights[k];
    for (int c = 0; c < channels; c++) out[c] = static_cast<int16_t>(sum[c] >> kRowShift);
  }
}

}  // namespace

AVIDA_CLONES void filter_plainly(int16_t* out, const uint8_t* in, const Taps& taps, int64_t channels) {
  switch (channels) {
    case 1:
      return filter_row_of<1>(out, in, taps);
    case 2:
      return filter_row_of<2>(out, in, taps);
    case 3:
      return filter_row_of<3>(out, in, taps);
    default:
      return filter_row_of<4>(out, in, taps);
  }
}

namespace {

struct TapsKey {
  ResampleAxis axis;
  int64_t channels;  // 0 for the axis of the rows
  const Kernels* kernels;
  bool operator==(const TapsKey&) const = default;
};

// Rounds the running sum, so that the weights add up to exactly 1 whatever their number.
Taps whole_taps(const ResampleTaps& real) {
  Taps taps;
  taps.count = real.count;
  taps.first = real.first;
  taps.weights.resize(real.weights.size());
  for (size_t i = 0; i < real.first.size(); i++) {
    double sum = 0;
    int before = 0;
    for (int64_t k = 0; k < real.count; k++) {
      size_t at = i * static_cast<size_t>(real.count) + static_cast<size_t>(k);
      sum += real.weights[at];
      bool last = k + 1 == real.count;
      int now = last ? 1 << kWeightBits : static_cast<int>(std::lround(sum * (1 << kWeightBits)));
      taps.weights[at] = static_cast<int16_t>(now - before);
      before = now;
    }
  }
  return taps;
}

std::shared_ptr<const Taps> find_taps(const ResampleAxis& axis, int64_t channels) {
  auto make = [](const TapsKey& key) {
    Taps taps = whole_taps(*resample_taps(key.axis));
    if (key.channels > 0) key.kernels->pack(taps, key.channels);
    return taps;
  };
  TapsKey key{axis, channels, &kernels()};
  if (window_count(axis) * axis.out > kMostKeptTaps) return std::make_shared<const Taps>(make(key));
  thread_local Recent<TapsKey, Taps> recent;
  return recent.find(key, make);
}

// The rows that output rows are mixed from, each filtered along itself once.
class FilteredRows {
 public:
  FilteredRows(const ImageResample& image, const Kernels& kernels, const uint8_t* in, int64_t kept)
      : image_(image),
        kernels_(kernels),
        in_(in),
        row_bytes_(image.in_columns * image.channels),
        stride_((image.out_columns * kernels.lanes(image.channels) + 127) / 64 * 64),
        row_at_(kept, -1) {
    if (image.columns) taps_ = find_taps(*image.columns, image.channels);
    rows_ = allocate(kept * stride_ * int64_t{sizeof(int16_t)});
    last_ = allocate(row_bytes_ + kReadAhead);
  }

  const int16_t* row(int64_t y) {
    size_t slot = static_cast<size_t>(y) % row_at_.size();
    int16_t* to = static_cast<int16_t*>(rows_.get()) + static_cast<int64_t>(slot) * stride_;
    if (row_at_[slot] == y) return to;
    row_at_[slot] = y;
    const uint8_t* from = in_ + y * row_bytes_;
    if (!taps_) {
      widen(to, from);
      return to;
    }
    // Hardware does not look beyond a page: the row after the next one.
    for (int64_t i = read_begin_; i < read_end_; i += 64) __builtin_prefetch(from + 2 * row_bytes_ + i);
    if ((image_.in_rows - 1 - y) * row_bytes_ < kReadAhead) {  // nothing may be read after the image
      memcpy(last_.get(), from, row_bytes_);
      from = static_cast<uint8_t*>(last_.get());
    }
    kernels_.filter_row(to, from, *taps_, image_.channels);
    return to;
  }

 private:
  void widen(int16_t* to, const uint8_t* from) const {
    const int64_t channels = image_.channels, lanes = kernels_.lanes(channels);
    for (int64_t x = 0; x < image_.in_columns; x++)
      for (int64_t c = 0; c < channels; c++)
        to[x * lanes + c] = static_cast<int16_t>(from[x * channels + c] << kRowBits);
  }

  const ImageResample& image_;
  const Kernels& kernels_;
  const uint8_t* in_;
  int64_t row_bytes_, stride_, read_begin_ = 0, read_end_ = 0;
  std::shared_ptr<const Taps> taps_;
  std::vector<int64_t> row_at_;  // which row each slot holds
  Block rows_, last_;
};

}  // namespace

}  // namespace bytes

bool suits_bytes(const ImageResample& image) {
  auto fits = [](const std::optional<ResampleAxis>& axis) {
    return !axis || std::min(window_count(*axis), axis->in) <= bytes::kMostTaps;
  };
  return image.channels >= 1 && image.channels <= 4 && fits(image.rows) && fits(image.columns);
}

void resample_bytes(const ImageResample& image, const uint8_t* in, uint8_t* out, int64_t begin, int64_t end) {
  std::shared_ptr<const bytes::Taps> taps;
  if (image.rows) taps = bytes::find_taps(*image.rows, 0);
  const int64_t count = taps ? taps->count : 1;
  const int16_t one = 1 << bytes::kWeightBits;
  const bytes::Kernels& kernels = bytes::kernels();
  bytes::FilteredRows filtered(image, kernels, in, count);
  std::vector<const int16_t*> rows(count);
  for (int64_t y = begin; y < end; y++) {
    for (int64_t k = 0; k < count; k++) rows[k] = filtered.row(taps ? taps->first[y] + k : y);
    kernels.mix_rows(out + y * image.out_columns * image.channels, rows.data(), taps ? taps->weights_of(y) : &one,
                     count, image.out_columns, image.channels);
  }
}

}  // namespace avida
