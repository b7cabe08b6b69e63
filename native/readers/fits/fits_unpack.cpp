#include "readers/fits/fits_unpack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "core/byte_order.h"
#include "core/error.h"
#include "core/made_once.h"
#include "readers/fits/fits_pixels.h"

namespace avida {
namespace {

// Grows the buffer if necessary. It is not cleared for the next tile.
unsigned char* room(std::vector<unsigned char>& buffer, int64_t bytes) {
  if (std::ssize(buffer) < bytes) buffer.resize(bytes);
  return buffer.data();
}

// The integer type of `n` pixels that occupy `bytes` bytes.
DType type_of_pixels(int64_t bytes, int64_t n, DType stored) {
  if (is_float(stored)) {
    if (bytes == n * size_of(stored)) return stored;
  } else {
    for (DType dtype : {DType::uint8, DType::int16, DType::int32, DType::int64})
      if (bytes == n * size_of(dtype)) return dtype;
  }
  refuse("expected ", n, " pixels in a tile, got ", bytes, " bytes");
}

// The bytes are shuffled: first the highest bytes of all elements, at the end the lowest.
template <class Bits>
void unshuffle(const unsigned char* from, int64_t n, void* to) {
  auto elements = static_cast<Bits*>(to);
  for (int64_t i = 0; i < n; i++) {
    Bits bits = 0;
    for (size_t k = 0; k < sizeof(Bits); k++) bits = static_cast<Bits>(bits << 8 | from[k * n + i]);
    elements[i] = bits;
  }
}

// Reads bits, from the highest to the lowest of each byte.
class BitReader {
 public:
  explicit BitReader(ByteSpan bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  // 1 to 32 bits.
  uint32_t take(int n) {
    if (count_ < n) fill();
    auto value = static_cast<uint32_t>(bits_ >> (64 - n));
    drop(n);
    return value;
  }
  // A Rice code: a unary part (zeros, then a one), then 0 to 25 low bits.
  uint32_t take_number(int low) {
    fill();
    uint64_t zeros = std::countl_zero(bits_);
    if (static_cast<int>(zeros) + 1 + low > count_) return take_long_number(low);
    drop(static_cast<int>(zeros) + 1);
    auto value = static_cast<uint32_t>(zeros << low);
    if (low == 0) return value;
    value |= static_cast<uint32_t>(bits_ >> (64 - low));
    drop(low);
    return value;
  }
  void check_end() const {
    if (at_ - count_ / 8 > end_) refuse("the compressed data of a tile is truncated");
  }

 private:
  // Buffers at least 56 bits. May read less than kBytesBeyond bytes beyond the end.
  void fill() {
    check_end();
    uint64_t next;
    std::memcpy(&next, at_, 8);
    bits_ |= __builtin_bswap64(next) >> count_;
    at_ += (63 - count_) >> 3;
    count_ |= 56;
  }
  void drop(int n) {
    bits_ <<= n;
    count_ -= n;
  }
  uint32_t take_long_number(int low) {
    uint64_t zeros = 0;
    do {
      fill();
      int some = std::min(std::countl_zero(bits_), count_);
      zeros += some;
      drop(some);
    } while (count_ == 0);
    drop(1);
    auto value = static_cast<uint32_t>(zeros << low);
    return low == 0 ? value : value | take(low);
  }

  const unsigned char *at_, *end_;
  uint64_t bits_ = 0;  // buffered bits, from the highest; below them are zeros or the next bits
  int count_ = 0;
};

// Rice coding: differences between neighbours, in blocks that each have their own number of low bits.
template <class Pixel>
void unpack_rice(ByteSpan packed, int64_t n, int64_t block, Pixel* to) {
  constexpr int kBits = 8 * sizeof(Pixel);
  constexpr int kLowBits = sizeof(Pixel) == 1   ? 3
                           : sizeof(Pixel) == 2 ? 4
                                                : 5;  // bits of the field that gives the number of low bits
  constexpr int kAllBits = sizeof(Pixel) == 1 ? 6 : sizeof(Pixel) == 2 ? 14 : 25;  // differences are stored uncoded
  BitReader bits(packed);
  auto last = static_cast<Pixel>(bits.take(kBits));
  auto add = [&](uint32_t folded) {  // 0, -1, 1, -2, ...
    last = static_cast<Pixel>(last + (folded & 1 ? ~(folded >> 1) : folded >> 1));
    return last;
  };
  for (int64_t i = 0; i < n;) {
    int64_t end = std::min(n, i + block);
    int low = static_cast<int>(bits.take(kLowBits)) - 1;
    if (low < 0) {
      std::fill(to + i, to + end, last);
      i = end;
    } else if (low == kAllBits) {
      for (; i < end; i++) to[i] = add(bits.take(kBits));
    } else if (low < kAllBits) {
      for (; i < end; i++) to[i] = add(bits.take_number(low));
    } else {
      refuse("the compressed data of a tile is corrupt");
    }
  }
  bits.check_end();
}

constexpr int64_t kRandomNumbers = 10'000;

// The random numbers of the FITS standard: a reader subtracts what the writer added (dithering).
const std::array<float, kRandomNumbers>& random_numbers() {
  using Numbers = std::array<float, kRandomNumbers>;
  static constinit MadeOnce<const Numbers> numbers;
  return numbers.get([] {
    auto out = std::make_unique<Numbers>();
    constexpr int64_t kModulus = 2147483647;
    int64_t seed = 1;
    for (float& number : *out) {
      seed = seed * 16807 % kModulus;
      number = static_cast<float>(static_cast<double>(seed) / kModulus);
    }
    return out;
  });
}

template <class Real>
void unquantize_all(const int32_t* from, int64_t n, const Quantization& by, Real* to) {
  if (by.dither == Quantization::Dither::none) {
    for (int64_t i = 0; i < n; i++) to[i] = static_cast<Real>(from[i] * by.scale + by.zero);
  } else {
    const auto& numbers = random_numbers();
    int64_t seed = by.seed % kRandomNumbers;
    for (int64_t done = 0; done < n; seed = (seed + 1) % kRandomNumbers) {
      auto first = static_cast<int64_t>(numbers[seed] * 500);
      int64_t some = std::min(n - done, kRandomNumbers - first);
      for (int64_t i = 0; i < some; i++) {
        double value = static_cast<double>(from[done + i]) - numbers[first + i] + 0.5;
        to[done + i] = static_cast<Real>(value * by.scale + by.zero);
      }
      done += some;
    }
  }
  constexpr int32_t kZero = -2147483646;
  if (by.dither == Quantization::Dither::subtractive_but_zeros)
    for (int64_t i = 0; i < n; i++) to[i] = from[i] == kZero ? Real(0) : to[i];
  if (by.blank)
    for (int64_t i = 0; i < n; i++) to[i] = from[i] == *by.blank ? std::numeric_limits<Real>::quiet_NaN() : to[i];
}

}  // namespace

DType TileUnpacker::gzip(ByteSpan packed, int64_t n, DType stored, bool shuffled) {
  if (inflater_)
    inflater_->restart();
  else
    inflater_.emplace();
  int64_t most = n * std::max(4, size_of(stored));  // old files compress all integers as int32
  unsigned char* to = room(pixels_, most);
  const unsigned char* from = packed.data();
  inflater_->unpack(from, packed.data() + packed.size(), to, most);
  int64_t bytes = to - pixels_.data();
  if (!inflater_->ended()) refuse("expected ", n, " pixels in a tile, but the compressed data continues");
  DType dtype = type_of_pixels(bytes, n, stored);
  if (!shuffled || size_of(dtype) == 1) {
    swap_bytes(pixels_.data(), n, size_of(dtype));
    return dtype;
  }
  unsigned char* ordered = room(other_, bytes);
  with_size_of(dtype, [&](auto type) { unshuffle<typename decltype(type)::type>(pixels_.data(), n, ordered); });
  pixels_.swap(other_);
  return dtype;
}

DType TileUnpacker::rice(ByteSpan packed, int64_t n, const RiceParameters& parameters) {
  unsigned char* to = room(pixels_, n * parameters.pixel_bytes);
  switch (parameters.pixel_bytes) {
    case 1:
      unpack_rice(packed, n, parameters.block, to);
      return DType::uint8;
    case 2:
      unpack_rice(packed, n, parameters.block, reinterpret_cast<uint16_t*>(to));
      return DType::int16;
    default:
      unpack_rice(packed, n, parameters.block, reinterpret_cast<uint32_t*>(to));
      return DType::int32;
  }
}

DType TileUnpacker::raw(ByteSpan bytes, int64_t n, DType stored) {
  DType dtype = type_of_pixels(std::ssize(bytes), n, stored);
  std::copy(bytes.begin(), bytes.end(), room(pixels_, std::ssize(bytes)));
  swap_bytes(pixels_.data(), n, size_of(dtype));
  return dtype;
}

DType TileUnpacker::unquantize(DType stored, int64_t n, const Quantization& quantization, DType floats) {
  if (stored != DType::int32) {
    if (!convert_fits_pixels(stored, pixels_.data(), n, {}, DType::int32, room(other_, n * 4)))
      refuse("a tile of quantized floats has integers outside of the range of int32");
    pixels_.swap(other_);
  }
  auto integers = reinterpret_cast<const int32_t*>(pixels_.data());
  unsigned char* to = room(other_, n * size_of(floats));
  if (floats == DType::float32)
    unquantize_all(integers, n, quantization, reinterpret_cast<float*>(to));
  else
    unquantize_all(integers, n, quantization, reinterpret_cast<double*>(to));
  pixels_.swap(other_);
  return floats;
}

}  // namespace avida
