#include "op/row_sums.h"

#include <algorithm>
#include <cmath>

#include "core/clones.h"
#include "kernel/macros.h"

namespace avida {
namespace {

constexpr int kPairs = 4;  // of neighbours that one loop adds: more would run out of registers for their addresses

AVIDA_INLINE float weighted(float x, float weight) { return x * weight; }
AVIDA_INLINE int16_t weighted(int16_t x, int16_t weight) {
  return static_cast<int16_t>(static_cast<int>(x) * static_cast<int>(weight) >> 16);
}
AVIDA_INLINE Fixed weighted(Fixed x, Fixed weight) {
  return static_cast<Fixed>(static_cast<uint32_t>(x) * static_cast<uint32_t>(weight) >> 16);
}

// The centre (in the first loop) and the pairs at the distances from `distance` to `distance` + pairs - 1.
template <int pairs, bool first, class T>
AVIDA_INLINE void add_pairs(T* __restrict out, const T* const* centre, const HalfWeights<T>& weights, int64_t distance,
                            int64_t n) {
  const T *before[pairs + 1], *after[pairs + 1], *middle = centre[0];
  T weight[pairs + 1], middle_weight = weights.half[0], start = weights.start;
  for (int k = 0; k < pairs; k++) {
    before[k] = centre[-distance - k];
    after[k] = centre[distance + k];
    weight[k] = weights.half[distance + k];
  }
  for (int64_t i = 0; i < n; i++) {
    T sum = first ? static_cast<T>(start + weighted(middle[i], middle_weight)) : out[i];
    for (int k = 0; k < pairs; k++)
      sum = static_cast<T>(sum + weighted(static_cast<T>(before[k][i] + after[k][i]), weight[k]));
    out[i] = sum;
  }
}

template <bool first, class T>
AVIDA_INLINE void add_some_pairs(T* out, const T* const* centre, const HalfWeights<T>& weights, int64_t distance,
                                 int64_t pairs, int64_t n) {
  switch (pairs) {
    case 0:
      return add_pairs<0, first>(out, centre, weights, distance, n);
    case 1:
      return add_pairs<1, first>(out, centre, weights, distance, n);
    case 2:
      return add_pairs<2, first>(out, centre, weights, distance, n);
    case 3:
      return add_pairs<3, first>(out, centre, weights, distance, n);
    default:
      return add_pairs<kPairs, first>(out, centre, weights, distance, n);
  }
}

template <class T>
AVIDA_INLINE void sum_all_pairs(T* out, const T* const* neighbours, const HalfWeights<T>& weights, int64_t n) {
  int64_t radius = weights.radius();
  const T* const* centre = neighbours + radius;
  add_some_pairs<true>(out, centre, weights, 1, std::min<int64_t>(radius, kPairs), n);
  for (int64_t k = kPairs + 1; k <= radius; k += kPairs)
    add_some_pairs<false>(out, centre, weights, k, std::min<int64_t>(radius - k + 1, kPairs), n);
}

template <int rows, bool first, class T>
AVIDA_INLINE void add_rows(T* __restrict out, const T* const* given, const T* weights, T start, int64_t n) {
  const T* row[rows];
  T weight[rows];
  for (int k = 0; k < rows; k++) row[k] = given[k], weight[k] = weights[k];
  for (int64_t i = 0; i < n; i++) {
    T sum = first ? start : out[i];
    for (int k = 0; k < rows; k++) sum = static_cast<T>(sum + weighted(row[k][i], weight[k]));
    out[i] = sum;
  }
}

// As many rows as one loop takes; returns how many it took.
template <bool first, class T>
AVIDA_INLINE size_t add_some_rows(T* out, const T* const* rows, const T* weights, size_t count, T start, int64_t n) {
  if (count >= 9) return add_rows<9, first>(out, rows, weights, start, n), 9;
  if (count >= 3) return add_rows<3, first>(out, rows, weights, start, n), 3;
  return add_rows<1, first>(out, rows, weights, start, n), 1;
}

template <class T>
AVIDA_INLINE void sum_all_rows(T* out, std::span<const T* const> rows, std::span<const T> weights, T start, int64_t n) {
  const T* const* row = rows.data();
  const T* weight = weights.data();
  size_t done = add_some_rows<true>(out, row, weight, rows.size(), start, n);
  while (done < rows.size()) done += add_some_rows<false>(out, row + done, weight + done, rows.size() - done, start, n);
}

}  // namespace

template <>
HalfWeights<float>::HalfWeights(const SymmetricWindow& window) : half(window.half) {}

template <>
HalfWeights<Fixed>::HalfWeights(const SymmetricWindow& window) {
  int64_t rest = 1 << 16;
  half.push_back(0);
  for (int64_t k = 1; k <= window.radius(); k++) {
    half.push_back(static_cast<Fixed>(std::lround(window.half[k] * 65536)));
    rest -= 2 * half.back();
  }
  while (half.size() > 1 && half.back() == 0) half.pop_back();
  half[0] = static_cast<Fixed>(rest);  // the whole does not fit, but then there is nothing to add to the centre
  start = static_cast<Fixed>(half.size() / 2);
}

AVIDA_CLONES void symmetric_sum(float* out, const float* const* neighbours, const HalfWeights<float>& weights,
                                int64_t n) {
  sum_all_pairs(out, neighbours, weights, n);
}
AVIDA_CLONES void symmetric_sum(Fixed* out, const Fixed* const* neighbours, const HalfWeights<Fixed>& weights,
                                int64_t n) {
  sum_all_pairs(out, neighbours, weights, n);
}

AVIDA_CLONES void weighted_sum(float* out, std::span<const float* const> rows, std::span<const float> weights,
                               float start, int64_t n) {
  sum_all_rows(out, rows, weights, start, n);
}
AVIDA_CLONES void weighted_sum(int16_t* out, std::span<const int16_t* const> rows, std::span<const int16_t> weights,
                               int16_t start, int64_t n) {
  sum_all_rows(out, rows, weights, start, n);
}

AVIDA_CLONES void fixed_from_bytes(Fixed* __restrict out, const uint8_t* __restrict in, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = static_cast<Fixed>(in[i] << kFixedBits);
}
AVIDA_CLONES void bytes_from_fixed(uint8_t* __restrict out, const Fixed* __restrict in, int64_t n) {
  constexpr int half = 1 << (kFixedBits - 1);
  for (int64_t i = 0; i < n; i++) {
    int byte = (in[i] + half) >> kFixedBits;
    out[i] = static_cast<uint8_t>(byte < 255 ? byte : 255);
  }
}

AVIDA_CLONES void bytes_from_fixed(uint8_t* __restrict out, const int16_t* __restrict in, int bits, int64_t n) {
  int half = 1 << bits >> 1;
  for (int64_t i = 0; i < n; i++) {
    int byte = (in[i] + half) >> bits;
    out[i] = static_cast<uint8_t>(byte < 0 ? 0 : byte < 255 ? byte : 255);
  }
}

}  // namespace avida
