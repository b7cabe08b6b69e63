// All arithmetic is that of libjpeg-turbo's vector code, so that the results are equal even where values overflow.
#include "codecs/jpeg/pixels/pixel_vectors.h"

#include <algorithm>
#include <cstring>

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codecs/jpeg/pixels/pixel_vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codecs/jpeg/block_groups.h"
#include "codecs/jpeg/pixels/cosines-inl.h"
#include "core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace avida::codecs::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Collects first rows that are so large that libjpeg-turbo's shortcut for blocks without other rows would wrap around.
HWY_INLINE Word too_large(Word row) {
  const Words words;
  return hn::And(hn::Add(row, hn::Set(words, 8192)), hn::Set(words, static_cast<int16_t>(0xC000)));
}

// As many blocks as a vector holds. `few`: all coefficients but the first four rows and columns are zero.
template <bool few>
HWY_INLINE Word make_blocks(int16_t* from, const int16_t* factors, uint8_t* out, int64_t stride) {
  const Words words;
  Word at[8];
  for (int y = 0; y < (few ? 4 : 8); y++) {
    int16_t* row = from + y * 8 * kGroup;
    at[y] = hn::Mul(hn::LoadU(words, row), hn::LoadDup128(words, factors + 8 * y));
    hn::StoreU(hn::Zero(words), words, row);
  }
  const Word large = too_large(at[0]);
  store_samples<few>(at, out, stride);
  return large;
}

// A block whose samples are all equal.
HWY_INLINE bool fill_block(int value, uint8_t* out, int64_t stride) {
  const int sample = std::clamp(((value * 4 + 16) >> 5) + 128, 0, 255);
  const uint64_t eight = 0x0101010101010101u * static_cast<unsigned>(sample);
  for (int y = 0; y < 8; y++) std::memcpy(out + stride * y, &eight, 8);
  return value >= -8192 && value < 8192;
}

bool make_samples(const BlockRow& row) {
  const Words words;
  const int lanes = static_cast<int>(hn::Lanes(words)), blocks = lanes / 8;
  Word large = hn::Zero(words);
  bool valid = true;
  for (int i = 0; i < row.groups * kGroup; i += blocks) {
    int16_t* from = row.coefficients + i / kGroup * kGroupSize + i % kGroup * 8;
    uint8_t* out = row.out + int64_t{8} * i;
    const int last = *std::max_element(row.last + i, row.last + i + blocks);
    if (last == 0)
      for (int k = 0; k < blocks; k++)
        valid &= fill_block(static_cast<int16_t>(from[8 * k] * row.factors[0]), out + 8 * k, row.stride);
    else if (last < 10)
      large = hn::Or(large, make_blocks<true>(from, row.factors, out, row.stride));
    else
      large = hn::Or(large, make_blocks<false>(from, row.factors, out, row.stride));
  }
  return valid && hn::AllTrue(words, hn::Eq(large, hn::Zero(words)));
}

using Bytes8 = hn::CappedTag<uint8_t, kPixelMargin>;
using Pixels16 = hn::Repartition<int16_t, Bytes8>;
using Pixel = hn::Vec<Pixels16>;

// Neighbouring pixels: those at even columns, and those at odd ones.
struct Pixels {
  Pixel even, odd;
};

HWY_INLINE Pixels load_pixels(const uint8_t* from) {
  const Pixels16 d;
  const hn::RebindToUnsigned<Pixels16> unsigned_d;
  const auto both = hn::BitCast(unsigned_d, hn::LoadU(Bytes8(), from));
  return {hn::BitCast(d, hn::And(both, hn::Set(unsigned_d, 255))), hn::BitCast(d, hn::ShiftRight<8>(both))};
}

HWY_INLINE Pixel times_3(Pixel v) { return hn::Add(v, hn::Add(v, v)); }

// Interpolated chroma: 3/4 of the nearest sample and 1/4 of the next one, along each axis.
template <int columns, int rows>
HWY_INLINE Pixels upsample(const uint8_t* near, const uint8_t* far, int x, bool lower) {
  const Pixels16 d;
  if constexpr (columns == 1) {
    const Pixels a = load_pixels(near + x);
    if constexpr (rows == 1) return a;
    const Pixels b = load_pixels(far + x);
    const Pixel bias = hn::Set(d, static_cast<int16_t>(lower ? 2 : 1));
    return {hn::ShiftRight<2>(hn::Add(hn::Add(times_3(a.even), b.even), bias)),
            hn::ShiftRight<2>(hn::Add(hn::Add(times_3(a.odd), b.odd), bias))};
  } else {
    const hn::Rebind<uint8_t, Pixels16> narrow;
    const auto load = [&](int i) {
      const Pixel a = hn::PromoteTo(d, hn::LoadU(narrow, near + i));
      if constexpr (rows == 1) return a;
      return hn::Add(times_3(a), hn::PromoteTo(d, hn::LoadU(narrow, far + i)));
    };
    const Pixel here = times_3(load(x / 2)), before = load(x / 2 - 1), after = load(x / 2 + 1);
    constexpr int shift = rows == 1 ? 2 : 4;
    const Pixel even = hn::Set(d, rows == 1 ? 1 : 8), odd = hn::Set(d, rows == 1 ? 2 : 7);
    return {hn::ShiftRight<shift>(hn::Add(hn::Add(here, before), even)),
            hn::ShiftRight<shift>(hn::Add(hn::Add(here, after), odd))};
  }
}

struct Colors {
  Pixel red, green, blue;
};

// The factors are 1.402, 1.772, -0.34414 and -0.71414 in 16 bits of fraction, without their integer parts.
HWY_INLINE Colors colors_of(Pixel light, Pixel cb, Pixel cr) {
  const Pixels16 d;
  const hn::Repartition<int32_t, Pixels16> longs;
  const auto clamped = [&](Pixel v) { return hn::Min(hn::Max(v, hn::Zero(d)), hn::Set(d, 255)); };
  const Pixel one = hn::Set(d, 1), middle = hn::Set(d, 128);
  cb = hn::Sub(cb, middle);
  cr = hn::Sub(cr, middle);
  const Pixel twice_cb = hn::Add(cb, cb), twice_cr = hn::Add(cr, cr);
  const Pixel red = hn::ShiftRight<1>(hn::Add(hn::MulHigh(twice_cr, hn::Set(d, 26345)), one));
  const Pixel blue = hn::ShiftRight<1>(hn::Add(hn::MulHigh(twice_cb, hn::Set(d, -14942)), one));
  const auto green_half = [&](Pixel pairs) {
    return hn::ShiftRight<16>(hn::Add(dot<-22554, 18734>(pairs), hn::Set(longs, 1 << 15)));
  };
  const Pixel green =
      hn::ReorderDemote2To(d, green_half(hn::InterleaveLower(d, cb, cr)), green_half(hn::InterleaveUpper(d, cb, cr)));
  return {clamped(hn::Add(light, hn::Add(cr, red))), clamped(hn::Add(light, hn::Sub(green, cr))),
          clamped(hn::Add(light, hn::Add(twice_cb, blue)))};
}

// A vector of pixels, from an even column on.
template <int columns, int rows>
HWY_INLINE void write_vector(const PixelRow& row, int x, uint8_t* out) {
  const Bytes8 bytes;
  const auto joined = [&](Pixel even, Pixel odd) { return hn::BitCast(bytes, hn::Or(even, hn::ShiftLeft<8>(odd))); };
  const Pixels light = load_pixels(row.luma + x);
  const Pixels cb = upsample<columns, rows>(row.near[0], row.far[0], x, row.lower);
  const Pixels cr = upsample<columns, rows>(row.near[1], row.far[1], x, row.lower);
  const Colors even = colors_of(light.even, cb.even, cr.even), odd = colors_of(light.odd, cb.odd, cr.odd);
  const auto red = joined(even.red, odd.red), green = joined(even.green, odd.green), blue = joined(even.blue, odd.blue);
  if (row.blue_first)
    avida::HWY_NAMESPACE::store_interleaved(blue, green, red, bytes, out);
  else
    avida::HWY_NAMESPACE::store_interleaved(red, green, blue, bytes, out);
}

// Calls write(x, out) for vectors of pixels from even columns on. Vectors that are not whole go through a buffer.
template <class Write>
HWY_INLINE void write_vectors(const PixelRow& row, Write&& write) {
  const int lanes = static_cast<int>(hn::Lanes(Bytes8()));
  uint8_t buffer[3 * kPixelMargin];
  int done = 0;
  if (row.x % 2) {
    write(row.x - 1, buffer);
    std::memcpy(row.out, buffer + 3, 3);
    done = 1;
  }
  for (; done + lanes <= row.width; done += lanes) write(row.x + done, row.out + 3 * done);
  if (done == row.width) return;
  write(row.x + done, buffer);
  std::memcpy(row.out + 3 * done, buffer, 3 * static_cast<size_t>(row.width - done));
}

template <int columns, int rows>
void write_colors(const PixelRow& row) {
  write_vectors(row, [&](int x, uint8_t* out) { write_vector<columns, rows>(row, x, out); });
}

void write_pixels(const PixelRow& row) {
  if (!row.near[0])
    return write_vectors(row, [&](int x, uint8_t* out) {
      const auto light = hn::LoadU(Bytes8(), row.luma + x);
      avida::HWY_NAMESPACE::store_interleaved(light, light, light, Bytes8(), out);
    });
  switch (row.columns * 2 + row.rows) {
    case 3:
      return write_colors<1, 1>(row);
    case 4:
      return write_colors<1, 2>(row);
    case 5:
      return write_colors<2, 1>(row);
    default:
      return write_colors<2, 2>(row);
  }
}

}  // namespace avida::codecs::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida::codecs {

HWY_EXPORT(make_samples);
HWY_EXPORT(write_pixels);

bool make_samples(const BlockRow& row) { return HWY_DYNAMIC_DISPATCH(make_samples)(row); }
void write_pixels(const PixelRow& row) { HWY_DYNAMIC_DISPATCH(write_pixels)(row); }

}  // namespace avida::codecs
#endif
