// Transforms of sixteen frames at once: an element of a buffer is a vector with the same element of each frame. For
// functions that are compiled for several instruction sets.
#pragma once
#include "core/clones.h"
#include "loops/spectral/fft.h"

namespace avida::fft {

// Lambdas inside of functions that are compiled for several instruction sets.
#define AVIDA_INLINE_LAMBDA __attribute__((always_inline))

constexpr int kLanes = 16;
using Lanes = float __attribute__((vector_size(64)));

// All sets of butterflies of one step.
template <class Real, class Butterfly>
AVIDA_INLINE void each_butterfly(const FftStep& step, Butterfly&& butterfly) {
  for (long p = 0; p < step.items / step.stride; p++)
    for (long q = 0; q < step.stride; q++) butterfly(p, q);
}

template <class Real>
AVIDA_INLINE void run_step(const FftStep& step, const FftTables& fft, const Complex<Real>* __restrict in,
                           Complex<Real>* __restrict out) {
  const Complex<float>* numbers = fft.numbers + step.numbers;
  auto each = [&](auto&& butterfly) AVIDA_INLINE_LAMBDA {
    each_butterfly<Real>(step, [&](long p, long q) AVIDA_INLINE_LAMBDA { butterfly(p, q); });
  };
  switch (step.radix) {
    case 2:
      return each([&](long p, long q) AVIDA_INLINE_LAMBDA { fft::even_radix<2>(step, numbers, in, out, p, q); });
    case 3:
      return each([&](long p, long q) AVIDA_INLINE_LAMBDA { fft::odd_radix<3>(step, numbers, in, out, p, q); });
    case 4:
      return each([&](long p, long q) AVIDA_INLINE_LAMBDA { fft::even_radix<4>(step, numbers, in, out, p, q); });
    case 5:
      return each([&](long p, long q) AVIDA_INLINE_LAMBDA { fft::odd_radix<5>(step, numbers, in, out, p, q); });
    default:
      if (step.radix > 0)
        return each([&](long p, long q) AVIDA_INLINE_LAMBDA { fft::butterfly(step, numbers, in, out, p, q); });
      for (long i = 0; i < step.items; i++) fft::convolution_step(step, fft, in, out, i);
  }
}

// Transforms what is in buffers[0]; returns the buffer that has the result.
template <class Real>
AVIDA_INLINE const Complex<Real>* transform(const FftTables& fft, Complex<Real>* const (&buffers)[2]) {
  for (int i = 0; i < fft.count; i++) run_step(fft.steps[i], fft, buffers[i % 2], buffers[(i + 1) % 2]);
  return buffers[fft.count % 2];
}

}  // namespace avida::fft
