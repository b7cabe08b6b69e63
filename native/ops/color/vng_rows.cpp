// All that takes vectors is inlined, so nobody sees how they are passed.
#pragma GCC diagnostic ignored "-Wpsabi"
#include "ops/color/vng_rows.h"

#include <algorithm>
#include <cstring>

#include "core/clones.h"
#include "core/rows.h"
#include "core/vectors.h"
#include "ops/color/vng.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/color/vng_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#ifndef AVIDA_VNG_ROWS
#define AVIDA_VNG_ROWS
namespace avida::ops {
namespace {

constexpr int kMostLanes = 16, kBlock = 128;

// Pixels of one parity in five rows. Each plane begins with two columns beyond the border.
struct Planes {
  const int16_t* rows[5][2];
};

// Not compiled for an instruction set, as the body (vng.h), which is inlined and calls it.
template <class Lanes>
struct LanesAt {
  const Planes& planes;
  int parity;
  int64_t i;  // of the first pixel among those of its parity
  AVIDA_INLINE Lanes operator()(int dy, int dx) const {
    Lanes loaded;
    std::memcpy(&loaded, planes.rows[dy + 2][(parity + dx) & 1] + i + ((parity + dx + 2) >> 1), sizeof(Lanes));
    return loaded;
  }
};

}  // namespace
}  // namespace avida::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace avida::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// With the operators of integers, as the body expects them.
using Lanes = int16_t __attribute__((vector_size(2 * hn::MaxLanes(hn::CappedTag<int16_t, kMostLanes>()))));

struct MissingColors {
  uint8_t *first, *second;
};

// Makes n pixels from the i-th of their parity on; results go to every second element.
template <bool green, int parity>
HWY_INLINE void make_block(MissingColors out, const Planes& planes, int64_t i, int n) {
  alignas(64) int16_t first[kBlock], second[kBlock], count[kBlock];
  constexpr int lanes = sizeof(Lanes) / sizeof(int16_t);
  for (int k = 0; k < n; k += lanes) {
    VngSums<Lanes> sums = vng_sums<green, Lanes>(LanesAt<Lanes>{planes, parity, i + k});
    Lanes of_first = sums.first - sums.own, of_second = sums.second - sums.own;
    std::memcpy(first + k, &of_first, sizeof(Lanes));
    std::memcpy(second + k, &of_second, sizeof(Lanes));
    std::memcpy(count + k, &sums.count, sizeof(Lanes));
  }
  const int16_t* center = planes.rows[2][parity] + i + 1;
  for (int k = 0; k < n; k++) {
    out.first[2 * k + parity] = vng_color(center[k], first[k], count[k]);
    out.second[2 * k + parity] = vng_color(center[k], second[k], count[k]);
  }
}

// green: the parity of the columns that are green.
template <int green>
HWY_INLINE void make_row(uint8_t* out, const Planes& planes, int64_t width, bool blue) {
  uint8_t colors[3][2 * kBlock];
  uint8_t *own = colors[blue ? 2 : 0], *other = colors[blue ? 0 : 2];
  for (int64_t i = 0; i < width / 2; i += kBlock) {
    const int n = static_cast<int>(std::min<int64_t>(kBlock, width / 2 - i));
    make_block<true, green>({own, other}, planes, i, n);
    make_block<false, 1 - green>({colors[1], other}, planes, i, n);
    const int16_t *greens = planes.rows[2][green] + i + 1, *owns = planes.rows[2][1 - green] + i + 1;
    for (int k = 0; k < n; k++) {
      colors[1][2 * k + green] = static_cast<uint8_t>(greens[k]);
      own[2 * k + 1 - green] = static_cast<uint8_t>(owns[k]);
    }
    interleave(out + 6 * i, colors[0], colors[1], colors[2], 2 * n);
  }
}

void make_colors(uint8_t* out, const Planes& planes, int64_t width, bool blue, int green) {
  green ? make_row<1>(out, planes, width, blue) : make_row<0>(out, planes, width, blue);
}

}  // namespace avida::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida::ops {
namespace {

AVIDA_CLONES void split(int16_t* __restrict even, int16_t* __restrict odd, const uint8_t* row, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    even[i] = row[2 * i];
    odd[i] = row[2 * i + 1];
  }
}

}  // namespace

HWY_EXPORT(make_colors);

VngRows::VngRows(const uint8_t* image, int64_t height, int64_t width, int blue_row, int blue_column)
    : image_(image),
      height_(height),
      width_(width),
      plane_(width / 2 + 2 + kMostLanes),  // vectors may read beyond the last pixel
      blue_row_(blue_row),
      blue_column_(blue_column),
      planes_(10 * plane_) {}

void VngRows::split_up_to(int64_t last) {
  auto beyond = [&](int64_t x) { return border_index(Border::reflect_101, x, width_); };
  for (; next_ <= last; next_++) {
    const uint8_t* row = image_ + border_index(Border::reflect_101, next_, height_) * width_;
    int16_t *even = planes_.data() + (next_ + 5) % 5 * 2 * plane_, *odd = even + plane_;
    const int64_t half = width_ / 2;
    split(even + 1, odd + 1, row, half);
    even[0] = row[beyond(-2)], odd[0] = row[beyond(-1)];
    even[half + 1] = row[beyond(width_)], odd[half + 1] = row[beyond(width_ + 1)];
  }
}

void VngRows::make(uint8_t* out, int64_t y) {
  const bool blue = (y + blue_row_) % 2 == 0;
  const int green = blue ? 1 - blue_column_ : blue_column_;
  if (width_ < 2 * kMostLanes) {
    for (int64_t x = 0; x < width_; x++)
      vng_pixel(out + 3 * x, SensorPixel{image_, height_, width_, y, x}, x % 2 == green, blue);
    return;
  }
  next_ = std::max(next_, y - 2);
  split_up_to(y + 2);
  Planes planes;
  for (int dy = -2; dy <= 2; dy++)
    for (int parity : {0, 1}) planes.rows[dy + 2][parity] = planes_.data() + ((y + dy + 5) % 5 * 2 + parity) * plane_;
  HWY_DYNAMIC_DISPATCH(make_colors)(out, planes, width_, blue, green);
}

}  // namespace avida::ops
#endif
