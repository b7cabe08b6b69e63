// The loop of pixel_vectors.h for one instruction set.
#if defined(AVIDA_LOOPS_PIXEL_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef AVIDA_LOOPS_PIXEL_VECTORS_INL_H
#undef AVIDA_LOOPS_PIXEL_VECTORS_INL_H
#else
#define AVIDA_LOOPS_PIXEL_VECTORS_INL_H
#endif

#include <hwy/highway.h>

#include "core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace avida::HWY_NAMESPACE {

using PixelFloats = hn::CappedTag<float, 16>;
// With the operators of numbers, as bodies expect them.
using Floats = float __attribute__((vector_size(4 * hn::MaxLanes(PixelFloats()))));
#if HWY_TARGET == HWY_AVX3_DL
using PixelStep = PixelFloats;
#else
using PixelBytes = hn::CappedTag<uint8_t, 64>;
using PixelStep = PixelBytes;  // whose number of lanes pixels are made at a time
#endif
using Integers = int32_t __attribute__((vector_size(sizeof(Floats))));

// As store_channel, but what is negative, or was not a number, is left to what follows; so is what is above 255, if it
// is `small`: far below 2^31, from where on it would not fit.
template <bool small = false>
HWY_INLINE hn::Vec<hn::RebindToSigned<PixelFloats>> rounded(const Floats& x) {
  const PixelFloats d;
  hn::Vec<PixelFloats> each;
  each.raw = x;
  if constexpr (!small) each = hn::Min(hn::Set(d, 255.0f), each);  // the second one, if it is not a number
  const Floats sum = hn::Add(each, hn::Set(d, FloatBits<float>::below_half)).raw;
  hn::Vec<hn::RebindToSigned<PixelFloats>> integers;  // without the care that ConvertTo takes of large numbers
  integers.raw = reinterpret_cast<decltype(integers.raw)>(__builtin_convertvector(sum, Integers));
  return integers;
}

HWY_INLINE Floats bytes_at(const uint8_t* in) {
  const hn::RebindToSigned<PixelFloats> integers;
  return hn::ConvertTo(PixelFloats(), hn::PromoteTo(integers, hn::LoadU(hn::Rebind<uint8_t, PixelFloats>(), in))).raw;
}

HWY_INLINE void store_bytes(const Floats& made, uint8_t* out) {
  const hn::RebindToSigned<PixelFloats> integers;
  const auto least = hn::Max(rounded(made), hn::Zero(integers));
#if HWY_TARGET == HWY_AVX3_DL
  const __m512i packed = _mm512_permutexvar_epi8(_mm512_load_si512(kPixelBytes.low), least.raw);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_castsi512_si128(packed));
#else
  hn::StoreU(hn::U8FromU32(hn::BitCast(hn::RebindToUnsigned<PixelFloats>(), least)), hn::Rebind<uint8_t, PixelFloats>(),
             out);
#endif
}

// n pixels, as many as fill vectors, whose channels are apart by `in_plane` and `out_plane`.
template <class Body, class Params>
HWY_INLINE void run_planes(uint8_t* HWY_RESTRICT out, const uint8_t* HWY_RESTRICT in, int64_t n, int64_t out_plane,
                           int64_t in_plane, const Params& params) {
  for (int64_t i = 0; i < n; i += hn::MaxLanes(PixelFloats())) {
    Pixel<Body::in, Floats> pixels;
    for (int c = 0; c < Body::in; c++) pixels[c] = bytes_at(in + i + c * in_plane);
    const Pixel<Body::out, Floats> made = Body::run(pixels, params);
    for (int c = 0; c < Body::out; c++) store_bytes(made[c], out + i + c * out_plane);
  }
}

#if HWY_TARGET == HWY_AVX3_DL

// All but the last ones load and store 64 bytes, and the next ones overwrite what is too much: out of caches, accesses
// with a mask take twice as long.
template <bool last, int N>
HWY_INLINE void read_pixels(Pixel<N, Floats>& to, const uint8_t* in) {
  const __m512i all = last ? _mm512_maskz_loadu_epi8(kThreeChannels, in) : _mm512_loadu_si512(in);
  for (int c = 0; c < N; c++)
    to[c] = _mm512_cvtepi32_ps(_mm512_maskz_permutexvar_epi8(kLowBytes, _mm512_load_si512(kPixelBytes.read[c]), all));
}

template <class Body>
constexpr bool kMakesWhole = false;
template <class Body>
  requires(Body::makes_whole)
constexpr bool kMakesWhole<Body> = true;

template <class Body, bool small>
HWY_INLINE __m512i packed_pixels(const Pixel<3, Floats>& made) {
  const auto integers = [&](int c) {
    return small && kMakesWhole<Body> ? _mm512_cvttps_epi32(made[c]) : rounded<small>(made[c]).raw;
  };
  const __m512i third = integers(2), first = _mm512_packs_epi32(integers(0), integers(1));
  const __m512i packed = _mm512_packus_epi16(first, _mm512_packs_epi32(third, third));
  return _mm512_permutexvar_epi8(_mm512_load_si512(kPixelBytes.write), packed);
}

template <class Body, bool last, class Params>
HWY_INLINE Pixel<Body::out, Floats> made_pixels(const uint8_t* in, const Params& params) {
  Pixel<Body::in, Floats> pixels;
  if constexpr (Body::in == 3)
    read_pixels<last>(pixels, in);
  else
    pixels[0] = bytes_at(in);
  return Body::run(pixels, params);
}

constexpr int kAhead = 4096;  // in bytes: hardware does not look beyond a page

// 64 pixels of three channels at a time; says how many pixels it made. `past`: stores past the cache.
template <class Body, bool small, bool past, class Params>
HWY_INLINE int64_t run_groups(uint8_t* HWY_RESTRICT out, const uint8_t* HWY_RESTRICT in, int64_t n,
                              const Params& params) {
  constexpr int64_t kGroup = 64, kBeyond = 16;  // pixels, of which some more bytes may be read
  int64_t i = 0;
  for (; i + kGroup + kBeyond <= n; i += kGroup) {
    __m512i four[4];
    HWY_UNROLL(1)
    for (int k = 0; k < 4; k++) {
      __builtin_prefetch(in + Body::in * (i + 16 * k) + kAhead);
      if (!past) __builtin_prefetch(out + 3 * (i + 16 * k) + kAhead);
      four[k] = packed_pixels<Body, small>(made_pixels<Body, false>(in + Body::in * (i + 16 * k), params));
    }
    for (int k = 0; k < 3; k++) {
      const __m512i which = _mm512_load_si512(kJoinedPixels.of_two[k]);
      const __m512i joined = _mm512_permutex2var_epi8(four[k], which, four[k + 1]);
      auto* to = reinterpret_cast<__m512i*>(out + 3 * i + 64 * k);
      past ? _mm512_stream_si512(to, joined) : _mm512_storeu_si512(to, joined);
    }
  }
  return i;
}

// As many interleaved pixels as fill vectors. `small`: so is all that the body makes.
template <class Body, bool small, class Params>
HWY_INLINE void run_vectors(uint8_t* HWY_RESTRICT out, const uint8_t* HWY_RESTRICT in, int64_t n,
                            const Params& params) {
  constexpr int64_t lanes = hn::MaxLanes(PixelFloats());
  int64_t i = 0;
  if constexpr (Body::out == 3) {
    const bool past = past_cache() && reinterpret_cast<uintptr_t>(out) % 64 == 0;
    i = past ? run_groups<Body, small, true>(out, in, n, params) : run_groups<Body, small, false>(out, in, n, params);
    for (; i < n; i += lanes)
      _mm512_mask_storeu_epi8(out + 3 * i, kThreeChannels,
                              packed_pixels<Body, small>(made_pixels<Body, true>(in + Body::in * i, params)));
  } else {
    for (; i + 2 * lanes <= n; i += lanes) {
      __builtin_prefetch(in + Body::in * i + kAhead);
      store_bytes(made_pixels<Body, false>(in + Body::in * i, params)[0], out + i);
    }
    for (; i < n; i += lanes) store_bytes(made_pixels<Body, true>(in + Body::in * i, params)[0], out + i);
  }
}
template <class Body, class Params>
HWY_INLINE void run_pixels(uint8_t* out, const uint8_t* in, int64_t n, const Params& params) {
  if constexpr (Body::out == 3 && requires { Body::most(params, 255); })
    if (Body::most(params, 255) < 0x1p30f) {
      if constexpr (requires { typename Body::Shorter; })
        if (Body::has_shorter(params)) return run_vectors<typename Body::Shorter, true>(out, in, n, params);
      return run_vectors<Body, true>(out, in, n, params);
    }
  run_vectors<Body, false>(out, in, n, params);
}

#else

// As many interleaved pixels as fill vectors, through planes that stay in the cache.
template <class Body, class Params>
HWY_INLINE void run_pixels(uint8_t* out, const uint8_t* in, int64_t n, const Params& params) {
  const PixelBytes d;
  constexpr int64_t lanes = hn::MaxLanes(d), kBlock = 256;
  alignas(64) uint8_t read[3 * kBlock], made[3 * kBlock];
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t count = HWY_MIN(kBlock, n - i);
    if constexpr (Body::in == 3)
      for (int64_t k = 0; k < count; k += lanes) {
        hn::Vec<PixelBytes> first, second, third;
        hn::LoadInterleaved3(d, in + 3 * (i + k), first, second, third);
        hn::Store(first, d, read + k);
        hn::Store(second, d, read + kBlock + k);
        hn::Store(third, d, read + 2 * kBlock + k);
      }
    run_planes<Body>(Body::out == 3 ? made : out + i, Body::in == 3 ? read : in + i, count, kBlock, kBlock, params);
    if constexpr (Body::out == 3)
      for (int64_t k = 0; k < count; k += lanes)
        store_interleaved(hn::Load(d, made + k), hn::Load(d, made + kBlock + k), hn::Load(d, made + 2 * kBlock + k), d,
                          out + 3 * (i + k));
  }
}

#endif

// The first pixels of n, as many as fill vectors; says how many. Planes are as in pixel_run.
template <class Job>
int64_t vector_run(uint8_t* out, const uint8_t* in, int64_t n, int64_t plane, const typename Job::Params& given) {
  using Body = typename Job::Body;
  const typename Job::Params params = given;  // which stores of bytes cannot change
  const int64_t end = n - n % hn::MaxLanes(PixelStep());
  if (plane || Body::in * Body::out == 1)
    run_planes<Body>(out, in, end, plane, plane, params);
  else
    run_pixels<Body>(out, in, end, params);
  return end;
}

}  // namespace avida::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
