#include "codecs/video/planes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/clones.h"
#include "core/rows.h"
#include "device/macros.h"

namespace avida::codecs {
namespace {

struct Weights {
  double red, blue;
};
Weights weights_of(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::bt709:
      return {0.2126, 0.0722};
    case ColorMatrix::bt2020:
      return {0.2627, 0.0593};
    case ColorMatrix::bt601:
      break;
  }
  return {0.299, 0.114};
}

PlaneMix fixed_point(const double (&by)[3][3], const double (&offset)[3]) {
  PlaneMix mix;
  for (int c = 0; c < 3; c++) {
    for (int k = 0; k < 3; k++) mix.by[c][k] = static_cast<int32_t>(std::lround(by[c][k] * (1 << kMixFraction)));
    // And one half, so that the final shift rounds.
    mix.offset[c] = static_cast<int32_t>(std::lround((offset[c] + 0.5) * (1 << (kMixFraction + kPlaneFraction))));
  }
  return mix;
}

}  // namespace

ToRgb to_rgb(const PicturePlanes& picture) {
  if (picture.is_rgb) return {{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}, {0, 0, 0}};
  const auto [red, blue] = weights_of(picture.matrix);
  const double green = 1 - red - blue;
  const double luma = picture.full_range ? 1 : 255.0 / 219, chroma = picture.full_range ? 1 : 255.0 / 224;
  const double red_cr = 2 * (1 - red) * chroma, blue_cb = 2 * (1 - blue) * chroma;
  ToRgb result = {{{luma, 0, red_cr}, {luma, -blue / green * blue_cb, -red / green * red_cr}, {luma, blue_cb, 0}}, {}};
  for (int c = 0; c < 3; c++)
    result.offset[c] = -luma * (picture.full_range ? 0 : 16) - 128 * (result.by[c][1] + result.by[c][2]);
  return result;
}

PlaneMix mix_of(const PicturePlanes& picture, ImageType type) {
  const ToRgb rgb = to_rgb(picture);
  if (type == ImageType::rgb) return fixed_point(rgb.by, rgb.offset);
  if (!picture.is_rgb && picture.matrix == ColorMatrix::bt601 && !picture.full_range)
    return fixed_point({{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {0, 0, 0});
  const auto [red, blue] = weights_of(ColorMatrix::bt601);
  const double green = 1 - red - blue, y = 219.0 / 255, cb = 112.0 / 255 / (1 - blue), cr = 112.0 / 255 / (1 - red);
  const double from_rgb[3][3] = {{red * y, green * y, blue * y},
                                 {-red * cb, -green * cb, (1 - blue) * cb},
                                 {(1 - red) * cr, -green * cr, -blue * cr}};
  double by[3][3] = {}, offset[3] = {16, 128, 128};
  for (int c = 0; c < 3; c++)
    for (int k = 0; k < 3; k++) {
      for (int i = 0; i < 3; i++) by[c][i] += from_rgb[c][k] * rgb.by[k][i];
      offset[c] += from_rgb[c][k] * rgb.offset[k];
    }
  return fixed_point(by, offset);
}

namespace {

template <class T>
AVIDA_INLINE void widen_row(const T* __restrict in, uint16_t* __restrict out, int n, int shift) {
  for (int i = 0; i < n; i++) out[i] = static_cast<uint16_t>(in[i] << shift);
}
AVIDA_CLONES void widen(const uint8_t* in, uint16_t* out, int n, int bits) {
  if (bits == 8) return widen_row(in, out, n, kPlaneFraction);
  widen_row(reinterpret_cast<const uint16_t*>(in), out, n, 16 - bits);
}

template <class T>
AVIDA_INLINE void mix_row(const T* __restrict a, const T* __restrict b, uint16_t* __restrict out, int n,
                          uint32_t weight, int shift) {
  for (int i = 0; i < n; i++) out[i] = static_cast<uint16_t>((a[i] * (256 - weight) + b[i] * weight) >> shift);
}
AVIDA_CLONES void mix_rows(const uint8_t* a, const uint8_t* b, uint16_t* out, int n, int weight, int bits) {
  if (bits == 8) return mix_row(a, b, out, n, static_cast<uint32_t>(weight), 0);
  mix_row(reinterpret_cast<const uint16_t*>(a), reinterpret_cast<const uint16_t*>(b), out, n,
          static_cast<uint32_t>(weight), bits - 8);
}

// Twice as many elements; in[-1] and in[n] are read.
AVIDA_CLONES void double_row(const uint16_t* __restrict in, uint16_t* __restrict out, int n) {
  for (int i = 0; i < n; i++) {
    const uint32_t middle = 3u * in[i] + 2;
    out[2 * i] = static_cast<uint16_t>((middle + in[i - 1]) >> 2);
    out[2 * i + 1] = static_cast<uint16_t>((middle + in[i + 1]) >> 2);
  }
}

void stretch_row(const uint16_t* in, uint16_t* out, const std::vector<PlaneTap>& taps) {
  for (size_t i = 0; i < taps.size(); i++) {
    const PlaneTap& tap = taps[i];
    out[i] = static_cast<uint16_t>((in[tap.first] * static_cast<uint32_t>(256 - tap.weight) +
                                    in[tap.second] * static_cast<uint32_t>(tap.weight)) >>
                                   8);
  }
}

AVIDA_CLONES void mix_channel(const uint16_t* __restrict y, const uint16_t* __restrict u, const uint16_t* __restrict v,
                              uint8_t* __restrict out, int n, int32_t by_y, int32_t by_u, int32_t by_v,
                              int32_t offset) {
  for (int i = 0; i < n; i++) {
    const int32_t sum = (by_y * y[i] + by_u * u[i] + by_v * v[i] + offset) >> (kMixFraction + kPlaneFraction);
    out[i] = static_cast<uint8_t>(std::min(std::max(sum, 0), 255));
  }
}

// YCbCr to RGB: luma is the same in all channels, and red and blue need one plane of chroma each.
bool is_plain(const PlaneMix& mix) {
  return mix.by[0][0] == mix.by[1][0] && mix.by[1][0] == mix.by[2][0] && mix.by[0][1] == 0 && mix.by[2][2] == 0;
}

// The same sums as of mix_channel, with five products in place of nine.
AVIDA_CLONES void mix_plain(const uint16_t* __restrict y, const uint16_t* __restrict u, const uint16_t* __restrict v,
                            uint8_t* __restrict red, uint8_t* __restrict green, uint8_t* __restrict blue, int n,
                            const PlaneMix& mix) {
  constexpr int shift = kMixFraction + kPlaneFraction;
  const int32_t by_y = mix.by[0][0], red_v = mix.by[0][2], green_u = mix.by[1][1], green_v = mix.by[1][2];
  const int32_t blue_u = mix.by[2][1], add_red = mix.offset[0], add_green = mix.offset[1], add_blue = mix.offset[2];
  for (int i = 0; i < n; i++) {
    const int32_t luma = by_y * y[i];
    red[i] = static_cast<uint8_t>(std::min(std::max((luma + red_v * v[i] + add_red) >> shift, 0), 255));
    green[i] =
        static_cast<uint8_t>(std::min(std::max((luma + green_u * u[i] + green_v * v[i] + add_green) >> shift, 0), 255));
    blue[i] = static_cast<uint8_t>(std::min(std::max((luma + blue_u * u[i] + add_blue) >> shift, 0), 255));
  }
}

// Makes the rows of a plane at full resolution.
class PlaneRows {
 public:
  PlaneRows(const PicturePlanes& picture, int plane)
      : data_(picture.planes[plane]),
        stride_(picture.strides[plane]),
        bits_(picture.bits),
        height_(picture.height),
        width_(picture.width),
        stored_height_(plane == 0 ? picture.height : picture.chroma_height),
        stored_width_(plane == 0 ? picture.width : picture.chroma_width),
        repeats_(plane > 0 && picture.repeats_chroma),
        row_(static_cast<size_t>(width_) + 2) {
    if (stored_width_ == width_ || stored_width_ == 0) return;
    narrow_.resize(static_cast<size_t>(stored_width_) + 2);
    if (2 * stored_width_ == width_) return;
    for (int i = 0; i < width_; i++) taps_.push_back(PlaneTap::at(i, stored_width_, width_));
  }

  const uint16_t* row(int y) {
    if (stored_width_ == 0) {
      if (y == 0) std::fill(row_.begin(), row_.end(), uint16_t{128 << kPlaneFraction});
      return row_.data();
    }
    if (stored_width_ == width_) return stored_row(y, row_.data());
    uint16_t* narrow = narrow_.data() + 1;
    stored_row(y, narrow);
    narrow[-1] = narrow[0];
    narrow[stored_width_] = narrow[stored_width_ - 1];
    if (repeats_)
      repeat_row(narrow, row_.data());
    else if (taps_.empty())
      double_row(narrow, row_.data(), stored_width_);
    else
      stretch_row(narrow, row_.data(), taps_);
    return row_.data();
  }

 private:
  void repeat_row(const uint16_t* in, uint16_t* out) const {
    for (int i = 0; i < width_; i++) out[i] = in[int64_t{i} * stored_width_ / width_];
  }

  const uint16_t* stored_row(int y, uint16_t* to) const {
    if (repeats_) {
      const int64_t row = int64_t{y} * stored_height_ / height_;
      widen(data_ + row * stride_, to, stored_width_, bits_);
    } else if (stored_height_ == height_) {
      widen(data_ + y * stride_, to, stored_width_, bits_);
    } else {
      const PlaneTap tap = PlaneTap::at(y, stored_height_, height_);
      mix_rows(data_ + tap.first * stride_, data_ + tap.second * stride_, to, stored_width_, tap.weight, bits_);
    }
    return to;
  }

  const uint8_t* data_;
  int64_t stride_;
  int bits_, height_, width_, stored_height_, stored_width_;
  bool repeats_;
  std::vector<uint16_t> row_, narrow_;
  std::vector<PlaneTap> taps_;
};

}  // namespace

void each_plane_row(const PicturePlanes& picture, const UsePlaneRow& use) {
  PlaneRows first(picture, 0), second(picture, 1), third(picture, 2);
  for (int y = 0; y < picture.height; y++) {
    const uint16_t *a = first.row(y), *b = second.row(y), *c = third.row(y);
    use(y, a, b, c);
  }
}

void interleave_planes(const PicturePlanes& picture, ImageType type, uint8_t* out) {
  const PlaneMix mix = mix_of(picture, type);
  const bool plain = is_plain(mix);
  const int n = picture.width;
  std::vector<uint8_t> channels(static_cast<size_t>(n) * 3);
  each_plane_row(picture, [&](int, const uint16_t* a, const uint16_t* b, const uint16_t* c) {
    if (plain)
      mix_plain(a, b, c, channels.data(), channels.data() + n, channels.data() + 2 * n, n, mix);
    else
      for (int k = 0; k < 3; k++)
        mix_channel(a, b, c, channels.data() + k * n, n, mix.by[k][0], mix.by[k][1], mix.by[k][2], mix.offset[k]);
    interleave(out, channels.data(), channels.data() + n, channels.data() + 2 * n, n);
    out += int64_t{3} * n;
  });
}

}  // namespace avida::codecs
