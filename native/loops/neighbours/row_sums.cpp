#include "loops/neighbours/row_sums.h"

#include <algorithm>
#include <cmath>

#include "core/clones.h"
#include "device/macros.h"

namespace avida {
namespace {

constexpr int kPairs = 4;  // of neighbours that one loop adds: more would run out of registers for their addresses

// The pairs at the distances from `distance` to `distance` + pairs - 1, and the centre before the first ones.
template <int pairs, bool first, bool add, class T>
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
    T sum = add ? out[i] : start;
    if (first) sum = static_cast<T>(sum + weighted(middle[i], middle_weight));
    for (int k = 0; k < pairs; k++)
      sum = static_cast<T>(sum + weighted(static_cast<T>(before[k][i] + after[k][i]), weight[k]));
    out[i] = sum;
  }
}

template <bool first, bool add, class T>
AVIDA_INLINE void add_some_pairs(T* out, const T* const* centre, const HalfWeights<T>& weights, int64_t distance,
                                 int64_t pairs, int64_t n) {
  switch (pairs) {
    case 0:
      return add_pairs<0, first, add>(out, centre, weights, distance, n);
    case 1:
      return add_pairs<1, first, add>(out, centre, weights, distance, n);
    case 2:
      return add_pairs<2, first, add>(out, centre, weights, distance, n);
    case 3:
      return add_pairs<3, first, add>(out, centre, weights, distance, n);
    default:
      return add_pairs<kPairs, first, add>(out, centre, weights, distance, n);
  }
}

template <class T>
AVIDA_INLINE void sum_all_pairs(T* out, const T* const* neighbours, const HalfWeights<T>& weights, int64_t n,
                                bool add) {
  int64_t radius = weights.radius(), pairs = std::min<int64_t>(radius, kPairs);
  const T* const* centre = neighbours + radius;
  if (add)
    add_some_pairs<true, true>(out, centre, weights, 1, pairs, n);
  else
    add_some_pairs<true, false>(out, centre, weights, 1, pairs, n);
  for (int64_t k = kPairs + 1; k <= radius; k += kPairs)
    add_some_pairs<false, true>(out, centre, weights, k, std::min<int64_t>(radius - k + 1, kPairs), n);
}

template <int rows, bool first>
AVIDA_INLINE void add_rows(float* __restrict out, const float* const* given, const float* weights, int64_t n) {
  const float* row[rows];
  float weight[rows];
  for (int k = 0; k < rows; k++) row[k] = given[k], weight[k] = weights[k];
  for (int64_t i = 0; i < n; i++) {
    float sum = first ? 0 : out[i];
    for (int k = 0; k < rows; k++) sum += row[k][i] * weight[k];
    out[i] = sum;
  }
}

// As many rows as one loop takes; returns how many it took.
template <bool first>
AVIDA_INLINE size_t add_some_rows(float* out, const float* const* rows, const float* weights, size_t count, int64_t n) {
  if (count >= 9) return add_rows<9, first>(out, rows, weights, n), 9;
  if (count >= 3) return add_rows<3, first>(out, rows, weights, n), 3;
  return add_rows<1, first>(out, rows, weights, n), 1;
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

template <>
HalfWeights<Whole>::HalfWeights(const SymmetricWindow& window) {
  for (float weight : window.half) half.push_back(static_cast<Whole>(weight));
}

AVIDA_CLONES void symmetric_sum(float* out, const float* const* neighbours, const HalfWeights<float>& weights,
                                int64_t n, bool add) {
  sum_all_pairs(out, neighbours, weights, n, add);
}
AVIDA_CLONES void symmetric_sum(Fixed* out, const Fixed* const* neighbours, const HalfWeights<Fixed>& weights,
                                int64_t n, bool add) {
  sum_all_pairs(out, neighbours, weights, n, add);
}
AVIDA_CLONES void symmetric_sum(Whole* out, const Whole* const* neighbours, const HalfWeights<Whole>& weights,
                                int64_t n, bool add) {
  sum_all_pairs(out, neighbours, weights, n, add);
}

AVIDA_CLONES void weighted_sum(float* out, std::span<const float* const> rows, std::span<const float> weights,
                               int64_t n) {
  size_t done = add_some_rows<true>(out, rows.data(), weights.data(), rows.size(), n);
  while (done < rows.size())
    done += add_some_rows<false>(out, rows.data() + done, weights.data() + done, rows.size() - done, n);
}

AVIDA_CLONES void fixed_from_bytes(Fixed* __restrict out, const uint8_t* __restrict in, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = load_summand<Fixed>(in[i]);
}
AVIDA_CLONES void bytes_from_fixed(uint8_t* __restrict out, const Fixed* __restrict in, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = byte_of(in[i]);
}

}  // namespace avida
