#include "core/interleave.h"

#include "core/vectors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/interleave.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {
template <class T>
HWY_INLINE void interleave_planes(T* HWY_RESTRICT out, const T* first, const T* second, const T* third, int64_t n) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    store_interleaved(hn::LoadU(d, first + i), hn::LoadU(d, second + i), hn::LoadU(d, third + i), d, out + 3 * i);
  for (; i < n; i++) {
    out[3 * i] = first[i];
    out[3 * i + 1] = second[i];
    out[3 * i + 2] = third[i];
  }
}

void interleave_bytes(uint8_t* out, const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t n) {
  interleave_planes(out, first, second, third, n);
}
void interleave_words(uint16_t* out, const uint16_t* first, const uint16_t* second, const uint16_t* third, int64_t n) {
  interleave_planes(out, first, second, third, n);
}

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace avida {

HWY_EXPORT(interleave_bytes);
HWY_EXPORT(interleave_words);

void interleave(uint8_t* out, const uint8_t* first, const uint8_t* second, const uint8_t* third, int64_t n) {
  HWY_DYNAMIC_DISPATCH(interleave_bytes)(out, first, second, third, n);
}
void interleave(uint16_t* out, const uint16_t* first, const uint16_t* second, const uint16_t* third, int64_t n) {
  HWY_DYNAMIC_DISPATCH(interleave_words)(out, first, second, third, n);
}

}  // namespace avida
#endif
