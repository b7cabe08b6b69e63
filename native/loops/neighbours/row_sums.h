// Weighted sums of rows of elements on the CPU, vectorised: the inner loops of convolutions.
// A row's neighbour along an axis is another row, or the same row at an offset.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "loops/neighbours/separable_sum.h"

namespace avida {

// A window of odd size whose weights are the same on both sides: half[k] is the weight at the distance k.
struct SymmetricWindow {
  std::vector<float> half = {1};

  int64_t radius() const { return std::ssize(half) - 1; }
};

// What the sums use of it: weights for Fixed numbers are 16 bits of fraction, and add up to exactly 1.
template <class T>
struct HalfWeights {
  explicit HalfWeights(const SymmetricWindow& window);
  int64_t radius() const { return std::ssize(half) - 1; }
  HalfWindow<T> view() const { return {half.data(), radius(), start}; }

  std::vector<T> half;
  T start = 0;  // what sums begin with: half of what rounding down loses, on average
};

// Of neighbours[0 ... 2 * radius], n elements each: the one in the middle is the centre. Adds them to `out`, if asked
// to.
void symmetric_sum(float* out, const float* const* neighbours, const HalfWeights<float>& weights, int64_t n, bool add);
void symmetric_sum(Fixed* out, const Fixed* const* neighbours, const HalfWeights<Fixed>& weights, int64_t n, bool add);
void symmetric_sum(Whole* out, const Whole* const* neighbours, const HalfWeights<Whole>& weights, int64_t n, bool add);

// out[i] = sum over k of weights[k] * rows[k][i].
void weighted_sum(float* out, std::span<const float* const> rows, std::span<const float> weights, int64_t n);

void fixed_from_bytes(Fixed* out, const uint8_t* in, int64_t n);
void bytes_from_fixed(uint8_t* out, const Fixed* in, int64_t n);

}  // namespace avida
