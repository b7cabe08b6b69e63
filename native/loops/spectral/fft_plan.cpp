#include "loops/spectral/fft_plan.h"

#include <bit>
#include <complex>
#include <numbers>

#include "loops/resampling/recent.h"

namespace avida {
namespace {

// e to the power of -2 pi i * k / n.
std::complex<double> root_of_unity(long k, long n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

Complex<float> rounded(const std::complex<double>& x) {
  return {static_cast<float>(x.real()), static_cast<float>(x.imag())};
}

// The radix of the next step of a transform of n elements; 0 if n has a large prime factor.
int next_radix(long n) {
  for (int radix : {4, 2, 3, 5, 7, 11, 13})
    if (n % radix == 0) return radix;
  return 0;
}

bool has_small_factors(long n) {
  while (n > 1) {
    const int radix = next_radix(n);
    if (radix == 0) return false;
    n /= radix;
  }
  return true;
}

// In double precision, for constants: a transform of 2 ** k elements.
void transform(std::vector<std::complex<double>>& x) {
  const size_t n = x.size();
  for (size_t i = 1, k = 0; i < n; i++) {
    size_t bit = n / 2;
    for (; k & bit; bit /= 2) k ^= bit;
    k ^= bit;
    if (i < k) std::swap(x[i], x[k]);
  }
  for (size_t half = 1; half < n; half *= 2)
    for (size_t k = 0; k < half; k++) {
      const std::complex<double> twiddle = root_of_unity(static_cast<long>(k), static_cast<long>(2 * half));
      for (size_t i = k; i < n; i += 2 * half) {
        const std::complex<double> odd = x[i + half] * twiddle;
        x[i + half] = x[i] - odd;
        x[i] += odd;
      }
    }
}

}  // namespace

FftPlan::FftPlan(long length) {
  tables_.length = length;
  tables_.packed = length % 2 == 0;
  tables_.size = tables_.area = tables_.packed ? length / 2 : length;
  if (has_small_factors(tables_.size))
    add_butterflies(tables_.size);
  else
    add_convolution();
  tables_.unpack = std::ssize(numbers_);
  if (tables_.packed)
    for (long k = 0; k <= tables_.size / 2; k++) numbers_.push_back(rounded(root_of_unity(k, length)));
}

std::shared_ptr<const FftPlan> FftPlan::of(long length) {
  thread_local Recent<long, FftPlan, 8> recent;
  return recent.find(length, [](long n) { return FftPlan(n); });
}

FftTables FftPlan::tables() const {
  FftTables tables = tables_;
  tables.steps = steps_.data();
  tables.numbers = numbers_.data();
  tables.count = static_cast<int>(steps_.size());
  return tables;
}

void FftPlan::add_step(int radix, long items, long stride) {
  steps_.push_back({radix, items, stride, std::ssize(numbers_)});
}

void FftPlan::add_butterflies(long size) {
  for (long n = size, stride = 1; n > 1;) {
    const int radix = next_radix(n);
    add_step(radix, size / radix, stride);
    if (radix % 2 == 1)
      for (int k = 0; k < radix; k++) numbers_.push_back(rounded(root_of_unity(k, radix)));
    for (long p = 0; p < n / radix; p++)
      for (long k = 1; k < radix; k++) numbers_.push_back(rounded(root_of_unity(p * k, n)));
    n /= radix;
    stride *= radix;
  }
}

// The transform as a convolution with a chirp, e to the power of -pi i * k ** 2 / n, by transforms of 2 ** k elements.
void FftPlan::add_convolution() {
  const long n = tables_.size, padded = static_cast<long>(std::bit_ceil(static_cast<unsigned long>(2 * n - 1)));
  std::vector<std::complex<double>> chirp(n), spectrum(padded);
  for (long k = 0; k < n; k++)
    chirp[k] = root_of_unity(static_cast<long>(static_cast<__int128>(k) * k % (2 * n)), 2 * n);
  for (long k = 0; k < n; k++) spectrum[k] = spectrum[(padded - k) % padded] = std::conj(chirp[k]);
  transform(spectrum);
  auto add_numbers = [&](const std::vector<std::complex<double>>& numbers, double scale) {
    for (const std::complex<double>& x : numbers) numbers_.push_back(rounded(x * scale));
  };
  tables_.area = padded;
  add_step(kChirp, padded);
  add_numbers(chirp, 1);
  add_butterflies(padded);
  add_step(kConvolve, padded);
  add_numbers(spectrum, 1 / static_cast<double>(padded));
  add_butterflies(padded);
  add_step(kChirpBack, n);
  add_numbers(chirp, 1);
}

}  // namespace avida
