// Weighted sums of rows of bytes, in integers, two neighbours at a time.
#pragma once
#include <cstdint>
#include <span>

namespace avida {

// An element in the lower half, and the one a step further on in the upper half.
using BytePair = uint32_t;

// The pairs of n bytes; the last `step` ones have nothing in their upper halves.
void pair_up(BytePair* out, const uint8_t* in, int64_t step, int64_t n);

// The weights of the two, of 16 bits each.
inline int32_t pair_weight(int lower, int upper) {
  return static_cast<int32_t>(static_cast<uint32_t>(lower & 0xffff) | static_cast<uint32_t>(upper) << 16);
}

constexpr int64_t kReadBeyond = 64;  // pairs or bytes after a row's end that may be read, and are not used

// out[i] = the sum over k of rows[k][i] * weights[k], which fits 32 bits, without `bits` bits of fraction, rounded.
void byte_sums(uint8_t* out, std::span<const BytePair* const> rows, std::span<const int32_t> weights, int bits,
               int64_t n);

// Two neighbours in the bytes of a row: the element at `at`, for the first sum, and the one a step further on.
struct TapPair {
  const uint8_t* at;
  int32_t weights;
};

// The same from the bytes themselves, of which kReadBeyond more may be read. False where it would be slower, or cannot
// be: then nothing is made.
bool sums_of_bytes(uint8_t* out, std::span<const TapPair> taps, int64_t step, int bits, int64_t n);

}  // namespace avida
