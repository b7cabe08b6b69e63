#include "readers/fits/fits_pixels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/error.h"

namespace avida {
namespace {

constexpr int64_t kAtATime = 512;  // elements; intermediate results stay in the L1 cache

// In FITS, 8-bit integers are unsigned and all others signed. An offset of half the range makes them the other kind: it
// inverts the sign bit.
DType other_sign(DType stored, const FitsScaling& scaling) {
  if (scaling.scale == 1) {
    if (stored == DType::uint8 && scaling.zero == -0x1p7) return DType::int8;
    if (stored == DType::int16 && scaling.zero == 0x1p15) return DType::uint16;
    if (stored == DType::int32 && scaling.zero == 0x1p31) return DType::uint32;
    if (stored == DType::int64 && scaling.zero == 0x1p63) return DType::uint64;
  }
  return DType::none;
}

bool is_unscaled(const FitsScaling& scaling) { return scaling.scale == 1 && scaling.zero == 0; }

template <class Fn>
void with_stored(DType stored, Fn&& fn) {
  switch (stored) {
    case DType::uint8:
      return fn(uint8_t());
    case DType::int16:
      return fn(int16_t());
    case DType::int32:
      return fn(int32_t());
    case DType::int64:
      return fn(int64_t());
    case DType::float32:
      return fn(float());
    default:
      return fn(double());
  }
}

template <class Fn>
void with_output(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::int8:
      return fn(int8_t());
    case DType::uint16:
      return fn(uint16_t());
    case DType::uint32:
      return fn(uint32_t());
    case DType::uint64:
      return fn(uint64_t());
    default:
      return with_stored(dtype, fn);
  }
}

template <class To, class From>
bool convert_all(const From* from, int64_t n, To* to) {
  bool all_fit = true;
  for (int64_t i = 0; i < n; i++) {
    bool fits = true;
    if constexpr (std::is_integral_v<To> && std::is_integral_v<From>)
      fits = std::in_range<To>(from[i]);
    else if constexpr (std::is_integral_v<To>)  // the fraction is dropped; NaN does not fit
      fits = std::trunc(from[i]) >= static_cast<From>(std::numeric_limits<To>::min()) &&
             from[i] < std::ldexp(1.0, std::numeric_limits<To>::digits);
    to[i] = fits ? static_cast<To>(from[i]) : To(0);
    all_fit &= fits;
  }
  return all_fit;
}

// Converts through `Wide`, which can represent all values: this avoids a loop for each pair of types.
template <class Wide, class Widen>
bool convert_by_way(DType stored, const void* from, int64_t n, DType dtype, void* to, Widen&& widen) {
  bool all_fit = true;
  Wide wide[kAtATime];
  for (int64_t done = 0; done < n && all_fit; done += kAtATime) {
    int64_t some = std::min(kAtATime, n - done);
    with_stored(stored, [&](auto element) {
      auto source = static_cast<const decltype(element)*>(from) + done;
      for (int64_t i = 0; i < some; i++) wide[i] = widen(source[i]);
    });
    with_output(dtype,
                [&](auto element) { all_fit = convert_all(wide, some, static_cast<decltype(element)*>(to) + done); });
  }
  return all_fit;
}

}  // namespace

DType fits_value_type(DType stored, const FitsScaling& scaling) {
  if (is_unscaled(scaling) || is_float(stored)) return stored;
  if (DType dtype = other_sign(stored, scaling); dtype != DType::none) return dtype;
  bool small = size_of(stored) < 4;
  if (std::trunc(scaling.scale) != scaling.scale || std::trunc(scaling.zero) != scaling.zero)
    return small ? DType::float32 : DType::float64;
  if (stored == DType::int64) return DType::float64;
  double low = stored == DType::uint8 ? 0 : -std::ldexp(1.0, 8 * size_of(stored) - 1);
  double high = low + std::ldexp(1.0, 8 * size_of(stored)) - 1;
  low = low * scaling.scale + scaling.zero;
  high = high * scaling.scale + scaling.zero;
  if (low > high) std::swap(low, high);
  if (low >= -0x1p15 && high < 0x1p15) return DType::int16;
  if (low >= 0 && high < 0x1p16) return DType::uint16;
  if (low >= -0x1p31 && high < 0x1p31) return DType::int32;
  if (low >= 0 && high < 0x1p32) return DType::uint32;
  return DType::float64;
}

bool fits_same_bits(DType stored, const FitsScaling& scaling, DType dtype) {
  return is_unscaled(scaling) ? dtype == stored : dtype == other_sign(stored, scaling);
}

bool convert_fits_pixels(DType stored, const void* from, int64_t n, const FitsScaling& scaling, DType dtype, void* to) {
  if (fits_same_bits(stored, scaling, dtype)) {
    if (from != to) std::memcpy(to, from, n * size_of(dtype));
    if (is_unscaled(scaling)) return true;
    with_size_of(dtype, [&](auto element) {
      using Bits = typename decltype(element)::type;
      auto bits = static_cast<Bits*>(to);
      for (int64_t i = 0; i < n; i++) bits[i] ^= Bits(Bits(1) << (8 * sizeof(Bits) - 1));
    });
    return true;
  }
  bool exact = is_integer(stored) && (is_unscaled(scaling) || other_sign(stored, scaling) != DType::none);
  if (!exact)
    return convert_by_way<double>(stored, from, n, dtype, to,
                                  [scaling](auto x) { return static_cast<double>(x) * scaling.scale + scaling.zero; });
  if (scaling.zero == 0x1p63)
    return convert_by_way<uint64_t>(stored, from, n, dtype, to,
                                    [](auto x) { return static_cast<uint64_t>(x) ^ (uint64_t(1) << 63); });
  return convert_by_way<int64_t>(stored, from, n, dtype, to, [zero = static_cast<int64_t>(scaling.zero)](auto x) {
    return static_cast<int64_t>(x) + zero;
  });
}

}  // namespace avida
