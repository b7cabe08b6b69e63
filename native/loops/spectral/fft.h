// The Fourier transform as a sequence of steps, each of which reads one buffer and writes another (Stockham, 1966).
// A buffer has one number per element on a GPU, and those of several frames side by side (a vector) on a CPU. Read by
// NVRTC too: no std headers.
#pragma once
#include "device/math.h"

namespace avida {

// A GPU loads and stores both parts of a complex float at once.
template <class Real>
struct alignas(sizeof(Real) == sizeof(float) ? 2 * sizeof(float) : alignof(Real)) Complex {
  Real re, im;
};

template <class Real>
AVIDA_HD AVIDA_INLINE Complex<Real> operator+(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class Real>
AVIDA_HD AVIDA_INLINE Complex<Real> operator-(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re - b.re, a.im - b.im};
}
// The product with a number that is the same for all frames.
template <class Real>
AVIDA_HD AVIDA_INLINE Complex<Real> times(const Complex<Real>& a, const Complex<float>& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class Real>
AVIDA_HD AVIDA_INLINE Complex<Real> conjugate(const Complex<Real>& a) {
  return {a.re, -a.im};
}

// A step other than a butterfly of some radix belongs to a transform by convolution (Bluestein, 1970).
constexpr int kChirp = 0, kConvolve = -1, kChirpBack = -2;

struct FftStep {
  int radix;     // 2, 3, 4, 5, 7, 11 or 13; or one of the constants above
  long items;    // butterflies, or elements
  long stride;   // of adjacent elements of one butterfly's output
  long numbers;  // the index of the step's constants: twiddle factors, after the roots of unity of an odd radix
};

// What the steps of a transform read.
struct FftTables {
  const FftStep* steps;
  const Complex<float>* numbers;
  int count;
  bool packed;  // two real numbers are transformed as a complex one
  long length;  // of the real signal
  long size;    // of the complex one
  long area;    // elements of a buffer
  long unpack;  // index of the twiddle factors for the result of packed numbers
};

namespace fft {

// Butterflies of radix 2 and 4, in place.
template <class Real>
AVIDA_HD AVIDA_INLINE void turn(const Complex<float>* twiddles, Complex<Real> (&x)[2]) {
  const Complex<Real> a = x[0], b = x[1];
  x[0] = a + b;
  x[1] = times(a - b, twiddles[0]);
}
template <class Real>
AVIDA_HD AVIDA_INLINE void turn(const Complex<float>* twiddles, Complex<Real> (&x)[4]) {
  const Complex<Real> sum_ac = x[0] + x[2], sum_bd = x[1] + x[3], ac = x[0] - x[2], bd = x[1] - x[3];
  const Complex<Real> turned = {bd.im, -bd.re};  // b - d times -i
  x[0] = sum_ac + sum_bd;
  x[1] = times(ac + turned, twiddles[0]);
  x[2] = times(sum_ac - sum_bd, twiddles[1]);
  x[3] = times(ac - turned, twiddles[2]);
}

// A radix of 2 or 4.
template <int radix, class Real>
AVIDA_HD AVIDA_INLINE void even_radix(const FftStep& step, const Complex<float>* twiddles, const Complex<Real>* in,
                                      Complex<Real>* out, long p, long q) {
  const Complex<Real>* from = in + p * step.stride + q;
  Complex<Real>* to = out + radix * p * step.stride + q;
  Complex<Real> x[radix];
  for (int k = 0; k < radix; k++) x[k] = from[k * step.items];
  turn(twiddles + (radix - 1) * p, x);
  for (int k = 0; k < radix; k++) to[k * step.stride] = x[k];
}

// An odd radix. Elements k and radix - k are processed in pairs, whose roots of unity are conjugates.
template <int radix, class Real>
AVIDA_HD AVIDA_INLINE void odd_radix(const FftStep& step, const Complex<float>* numbers, const Complex<Real>* in,
                                     Complex<Real>* out, long p, long q) {
  constexpr int half = radix / 2;
  const Complex<float>*roots = numbers, *twiddles = numbers + radix + p * (radix - 1);
  const Complex<Real>* from = in + p * step.stride + q;
  Complex<Real>* to = out + radix * p * step.stride + q;
  const Complex<Real> first = from[0];
  Complex<Real> sums[half], differences[half], total = first;
  for (int j = 1; j <= half; j++) {
    const Complex<Real> a = from[j * step.items], b = from[(radix - j) * step.items];
    sums[j - 1] = a + b;
    differences[j - 1] = a - b;
    total = total + sums[j - 1];
  }
  to[0] = total;
  for (int k = 1; k <= half; k++) {
    Complex<Real> even = first, odd = {};
    for (int j = 1; j <= half; j++) {
      const Complex<float> root = roots[j * k % radix];
      even = {even.re + sums[j - 1].re * root.re, even.im + sums[j - 1].im * root.re};
      odd = {odd.re - differences[j - 1].im * root.im, odd.im + differences[j - 1].re * root.im};
    }
    to[k * step.stride] = times(even + odd, twiddles[k - 1]);
    to[(radix - k) * step.stride] = times(even - odd, twiddles[radix - k - 1]);
  }
}

// One element of a step that is no butterfly.
template <class Real>
AVIDA_HD AVIDA_INLINE void convolution_step(const FftStep& step, const FftTables& fft, const Complex<Real>* in,
                                            Complex<Real>* out, long i) {
  const Complex<float>* numbers = fft.numbers + step.numbers;
  if (step.radix == kChirp)
    out[i] = i < fft.size ? times(in[i], numbers[i]) : Complex<Real>{};
  else if (step.radix == kConvolve)
    out[i] = conjugate(times(in[i], numbers[i]));  // a forward transform then is the conjugate of the inverse one
  else
    out[i] = times(conjugate(in[i]), numbers[i]);
}

// Butterfly q of the `stride` ones that share their twiddle factors, the p-th set of them.
template <class Real>
AVIDA_HD AVIDA_INLINE void butterfly(const FftStep& step, const Complex<float>* numbers, const Complex<Real>* in,
                                     Complex<Real>* out, long p, long q) {
  switch (step.radix) {
    case 2:
      return even_radix<2>(step, numbers, in, out, p, q);
    case 3:
      return odd_radix<3>(step, numbers, in, out, p, q);
    case 4:
      return even_radix<4>(step, numbers, in, out, p, q);
    case 5:
      return odd_radix<5>(step, numbers, in, out, p, q);
    case 7:
      return odd_radix<7>(step, numbers, in, out, p, q);
    case 11:
      return odd_radix<11>(step, numbers, in, out, p, q);
    default:
      return odd_radix<13>(step, numbers, in, out, p, q);
  }
}

template <class Real>
AVIDA_HD AVIDA_INLINE Real squared(const Complex<Real>& x) {
  return x.re * x.re + x.im * x.im;
}

// The squared magnitudes of two bins of a signal that was transformed as packed numbers, of which `z` and `mirrored`
// are the elements with these indices.
template <class Real>
struct TwoBins {
  Real bin, other;
};
template <class Real>
AVIDA_HD AVIDA_INLINE TwoBins<Real> unpacked(const Complex<Real>& z, const Complex<Real>& mirrored,
                                             const Complex<float>& twiddle) {
  const Complex<Real> sum = z + conjugate(mirrored), difference = z - conjugate(mirrored);
  // Elements with even and with odd index, times 2: the latter are also times i.
  const Complex<Real> odd = times(difference, twiddle);
  const Complex<Real> turned = {odd.im, -odd.re};
  return {squared(sum + turned) * 0.25f, squared(sum - turned) * 0.25f};
}

// Calls store(bin, squared magnitude) for one or two bins of the transformed signal. There are bin_items(fft) of such.
template <class Real, class Store>
AVIDA_HD AVIDA_INLINE void bins(const FftTables& fft, const Complex<Real>* in, long item, Store&& store) {
  if (!fft.packed) return store(item, squared(in[item]));
  const long other = fft.size - item;
  const TwoBins<Real> powers = unpacked(in[item], in[item == 0 ? 0 : other], fft.numbers[fft.unpack + item]);
  store(item, powers.bin);
  if (other != item) store(other, powers.other);
}
AVIDA_HD AVIDA_INLINE long bin_items(const FftTables& fft) { return fft.size / 2 + 1; }

}  // namespace fft
}  // namespace avida
