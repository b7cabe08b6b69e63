#include "codecs/pixels.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "codecs/exif.h"

namespace avida::codecs {

Orientation::Orientation(int exif, int height, int width)
    : height_(height),
      width_(width),
      flip_y_(exif == 3 || exif == 4 || exif == 6 || exif == 7),
      flip_x_(exif == 2 || exif == 3 || exif == 7 || exif == 8),
      swap_(transposes(exif)) {}

Roi Orientation::stored(const Roi& upright) const {
  Roi roi = swap_ ? Roi{upright.x, upright.y, upright.width, upright.height} : upright;
  if (flip_y_) roi.y = height_ - roi.y - roi.height;
  if (flip_x_) roi.x = width_ - roi.x - roi.width;
  return roi;
}

PixelWalk Orientation::walk(const Roi& stored, int64_t row_bytes, int64_t pixel_bytes) const {
  int64_t first = (flip_y_ ? row_bytes * (stored.height - 1) : 0) + (flip_x_ ? pixel_bytes * (stored.width - 1) : 0);
  int64_t down = flip_y_ ? -row_bytes : row_bytes, right = flip_x_ ? -pixel_bytes : pixel_bytes;
  return swap_ ? PixelWalk{first, right, down} : PixelWalk{first, down, right};
}

PixelWalk Orientation::walk_upright(const Roi& stored, int64_t pixel_bytes) const {
  const int64_t row_bytes = pixel_bytes * (swap_ ? stored.height : stored.width);
  int64_t down = swap_ ? pixel_bytes : row_bytes, right = swap_ ? row_bytes : pixel_bytes;
  const int64_t first = (flip_y_ ? down * (stored.height - 1) : 0) + (flip_x_ ? right * (stored.width - 1) : 0);
  return {first, flip_y_ ? -down : down, flip_x_ ? -right : right};
}

namespace {

template <class T>
constexpr float kWhite = std::is_floating_point_v<T> ? 1.0f : static_cast<float>(std::numeric_limits<T>::max());

template <class T>
struct Rgb {
  T r, g, b;
};

template <class T>
T gray_of(Rgb<T> c) {
  return convert<T>(0.299f * static_cast<float>(c.r) + 0.587f * static_cast<float>(c.g) +
                    0.114f * static_cast<float>(c.b));
}

uint32_t gray_of(uint32_t r, uint32_t g, uint32_t b, int bits) {
  return bits == 14 ? (4899 * r + 9617 * g + 1868 * b + (1 << 13)) >> 14
                    : (9798 * r + 19235 * g + 3735 * b + (1 << 14)) >> 15;
}

// ITU-R BT.601 in limited range: Y from 16 to 235, Cb and Cr from 16 to 240, of 255.
template <class T>
void write_ycbcr(Rgb<T> c, T* out) {
  float r = static_cast<float>(c.r), g = static_cast<float>(c.g), b = static_cast<float>(c.b);
  constexpr float unit = std::is_same_v<T, uint8_t> ? 1.0f : kWhite<T> / 256;
  constexpr float black = 16 * unit, middle = 128 * unit;
  out[0] = convert<T>(0.25678823529f * r + 0.50412941176f * g + 0.09790588235f * b + black);
  out[1] = convert<T>(-0.14822289945f * r - 0.29099278682f * g + 0.43921568627f * b + middle);
  out[2] = convert<T>(0.43921568627f * r - 0.36778831436f * g - 0.07142737192f * b + middle);
}

template <class T>
Rgb<T> read_rgb(const T* pixel, const PixelFormat& from) {
  if (from.color == ColorModel::bgr) return {pixel[2], pixel[1], pixel[0]};
  // Pixels of unknown meaning count as RGB with extra channels if there are at least three, else as gray.
  if (from.channels < 3) return {pixel[0], pixel[0], pixel[0]};
  return {pixel[0], pixel[1], pixel[2]};
}

template <class T>
void convert_colors(const uint8_t* in, int64_t right, const PixelFormat& from, T* out, ImageType type, int width) {
  auto each = [&](auto&& fn) {
    int channels = channels_of_type(type, from.channels);
    for (int i = 0; i < width; i++, in += right, out += channels) fn(reinterpret_cast<const T*>(in), out);
  };
  switch (type) {
    case ImageType::rgb:
      return each([&](const T* pixel, T* to) {
        Rgb<T> c = read_rgb(pixel, from);
        to[0] = c.r, to[1] = c.g, to[2] = c.b;
      });
    case ImageType::bgr:
      return each([&](const T* pixel, T* to) {
        Rgb<T> c = read_rgb(pixel, from);
        to[0] = c.b, to[1] = c.g, to[2] = c.r;
      });
    case ImageType::gray:
    case ImageType::indices:
      if (from.channels < 3) return each([&](const T* pixel, T* to) { to[0] = pixel[0]; });
      if constexpr (std::is_unsigned_v<T> && sizeof(T) < 4) {
        if (from.gray_bits)
          return each([&](const T* pixel, T* to) {
            Rgb<T> c = read_rgb(pixel, from);
            to[0] = static_cast<T>(gray_of(c.r, c.g, c.b, from.gray_bits));
          });
      }
      return each([&](const T* pixel, T* to) { to[0] = gray_of(read_rgb(pixel, from)); });
    case ImageType::ycbcr:
      return each([&](const T* pixel, T* to) { write_ycbcr(read_rgb(pixel, from), to); });
    case ImageType::any:
      return each([&](const T* pixel, T* to) {
        for (int c = 0; c < from.channels; c++) to[c] = pixel[c];
        if (from.color == ColorModel::bgr) std::swap(to[0], to[2]);
      });
  }
}

template <class To, class From>
void convert_range(const From* in, To* out, int64_t n) {
  if constexpr (std::is_same_v<From, uint16_t> && std::is_same_v<To, uint8_t>) {
    for (int64_t i = 0; i < n; i++) out[i] = static_cast<uint8_t>((in[i] * 255u + 32895u) >> 16);  // rounds in / 257
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    float part = static_cast<float>(in[i]);
    if constexpr (!std::is_floating_point_v<From>) part *= 1.0f / kWhite<From>;
    out[i] = convert<To>(part * kWhite<To>);
  }
}

template <class To, class From>
void convert_values(const From* in, To* out, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = convert<To>(in[i]);
}

template <class Fn>
void with_wanted_dtype(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::uint8:
      return fn(Type<uint8_t>{});
    case DType::int8:
      return fn(Type<int8_t>{});
    case DType::uint16:
      return fn(Type<uint16_t>{});
    case DType::int16:
      return fn(Type<int16_t>{});
    case DType::uint32:
      return fn(Type<uint32_t>{});
    case DType::int32:
      return fn(Type<int32_t>{});
    case DType::float32:
      return fn(Type<float>{});
    default:
      refuse("an image cannot be decoded to ", dtype);
  }
}

template <class T>
void convert_rows(const uint8_t* in, const PixelWalk& walk, const PixelFormat& from, void* out, ImageType type,
                  DType dtype, int height, int width) {
  const int64_t row = int64_t{width} * channels_of_type(type, from.channels);
  if (dtype == from.dtype) {
    for (int y = 0; y < height; y++)
      convert_colors(in + walk.first + walk.down * y, walk.right, from, static_cast<T*>(out) + row * y, type, width);
    return;
  }
  const auto convert_row = [&](const auto* colors, int y) {
    with_wanted_dtype(dtype, [&](auto t) {
      using To = typename decltype(t)::type;
      To* to = static_cast<To*>(out) + row * y;
      type == ImageType::indices ? convert_values(colors, to, row) : convert_range(colors, to, row);
    });
  };
  if (type != ImageType::ycbcr) {
    std::vector<T> colors(row);
    for (int y = 0; y < height; y++) {
      convert_colors(in + walk.first + walk.down * y, walk.right, from, colors.data(), type, width);
      convert_row(colors.data(), y);
    }
    return;
  }
  // YCbCr is computed in floats, to round only once.
  const int64_t stored_row = int64_t{width} * from.channels;
  const PixelFormat floats{DType::float32, from.color, from.channels};
  std::vector<T> stored(stored_row);
  std::vector<float> parts(stored_row), colors(row);
  for (int y = 0; y < height; y++) {
    for (int x = 0; x < width; x++) {
      auto* pixel = reinterpret_cast<const T*>(in + walk.first + walk.down * y + walk.right * x);
      std::copy_n(pixel, from.channels, stored.data() + int64_t{x} * from.channels);
    }
    convert_range(stored.data(), parts.data(), stored_row);
    const int64_t pixel_bytes = int64_t{from.channels} * static_cast<int64_t>(sizeof(float));
    convert_colors(reinterpret_cast<const uint8_t*>(parts.data()), pixel_bytes, floats, colors.data(), type, width);
    convert_row(colors.data(), y);
  }
}

}  // namespace

void convert_pixels(const uint8_t* in, const PixelWalk& walk, const PixelFormat& from, void* out, ImageType type,
                    DType dtype, int height, int width) {
  with_wanted_dtype(from.dtype, [&](auto stored) {
    convert_rows<typename decltype(stored)::type>(in, walk, from, out, type, dtype, height, width);
  });
}

}  // namespace avida::codecs
