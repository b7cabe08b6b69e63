#include "ops/filter/median_rows.h"

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/filter/median_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace avida::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_AVX3_DL

using Bytes = hn::FixedTag<uint8_t, 64>;
using Vector = hn::Vec<Bytes>;
constexpr int64_t kLanes = 64, kMostStep = 32;

HWY_INLINE Vector middle(Vector a, Vector b, Vector c) { return hn::Max(hn::Min(a, b), hn::Min(hn::Max(a, b), c)); }

// Columns of three.
struct Sorted {
  Vector low, mid, high;

  HWY_INLINE Sorted each(const auto& fn) const { return {fn(low), fn(mid), fn(high)}; }
};

// The median is the middle one of the largest of the low, the middle of the middle and the smallest of the high.
HWY_INLINE Vector median(const Sorted& a, const Sorted& b, const Sorted& c) {
  return middle(hn::Max(hn::Max(a.low, b.low), c.low), middle(a.mid, b.mid, c.mid),
                hn::Min(hn::Min(a.high, b.high), c.high));
}

// Where the bytes of vectors come from that are moved by a step.
struct Moved {
  Vector left, right;                  // of a vector and the one before, or after it
  Vector left_clamped, right_clamped;  // of a vector at an end of the row

  explicit Moved(int64_t step) {
    const Bytes d;
    const Vector lanes = hn::Iota(d, 0), by = hn::Set(d, static_cast<uint8_t>(step));
    right = hn::Add(lanes, by);
    left = hn::Sub(hn::Add(lanes, hn::Set(d, 64)), by);
    left_clamped = hn::IfThenElse(hn::Lt(lanes, by), lanes, hn::Sub(lanes, by));
    right_clamped = hn::IfThenElse(hn::Lt(right, hn::Set(d, 64)), right, lanes);
  }
};
HWY_INLINE Vector move(Vector x, Vector from) { return Vector{_mm512_permutexvar_epi8(from.raw, x.raw)}; }
HWY_INLINE Sorted move(const Sorted& a, const Sorted& b, Vector from) {
  auto both = [&](Vector x, Vector y) { return Vector{_mm512_permutex2var_epi8(x.raw, from.raw, y.raw)}; };
  return {both(a.low, b.low), both(a.mid, b.mid), both(a.high, b.high)};
}

bool find_medians(uint8_t* out, const uint8_t* top, const uint8_t* centre, const uint8_t* bottom, int64_t step,
                  int64_t n) {
  if (n < 2 * kLanes || step > kMostStep) return false;
  const Bytes d;
  auto sorted_at = [&](int64_t i) {
    const Vector a = hn::LoadU(d, top + i), b = hn::LoadU(d, centre + i), c = hn::LoadU(d, bottom + i);
    const Vector low = hn::Min(a, b), high = hn::Max(a, b);
    return Sorted{hn::Min(low, c), hn::Max(low, hn::Min(high, c)), hn::Max(high, c)};
  };
  const Moved moved(step);
  Sorted here = sorted_at(0), left = here.each([&](Vector x) { return move(x, moved.left_clamped); });
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += kLanes) {
    const Sorted next = sorted_at(i + kLanes);
    hn::StoreU(median(left, here, move(here, next, moved.right)), d, out + i);
    left = move(here, next, moved.left);
    here = next;
  }
  // The last ones are fewer than two vectors. All but the last of these have neighbours on both sides.
  for (const int64_t at : {i < n - kLanes - step ? i : n - kLanes - step, n - kLanes}) {
    here = sorted_at(at);
    const Sorted right =
        at + kLanes < n ? sorted_at(at + step) : here.each([&](Vector x) { return move(x, moved.right_clamped); });
    hn::StoreU(median(sorted_at(at - step), here, right), d, out + at);
  }
  return true;
}

#else

bool find_medians(uint8_t*, const uint8_t*, const uint8_t*, const uint8_t*, int64_t, int64_t) { return false; }

#endif

}  // namespace avida::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida::ops {

HWY_EXPORT(find_medians);

bool median_row(uint8_t* out, const uint8_t* top, const uint8_t* centre, const uint8_t* bottom, int64_t step,
                int64_t n) {
  return HWY_DYNAMIC_DISPATCH(find_medians)(out, top, centre, bottom, step, n);
}

}  // namespace avida::ops
#endif
