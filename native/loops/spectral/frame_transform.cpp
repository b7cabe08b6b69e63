// Vectors are passed between functions that are inlined into one.
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#include "loops/spectral/frame_transform.h"

#include <algorithm>

#include "core/error.h"
#include "loops/spectral/fft_lanes.h"
#include "runtime/memory.h"

namespace avida {
namespace {

using fft::kLanes;
using fft::Lanes;
using Elements = Complex<Lanes>;

// Spectra of real frames from those of packed ones, in place: bin k and bin size - k at once.
AVIDA_CLONES void unpack_bins(const FftTables& fft, const Elements* in, Elements* out) {
  const Elements first = in[0];
  out[0] = {first.re + first.im, Lanes{}};
  out[fft.size] = {first.re - first.im, Lanes{}};
  for (long k = 1; k <= fft.size / 2; k++) {
    const Elements a = in[k], b = conjugate(in[fft.size - k]), sum = a + b, difference = a - b;
    const Elements odd = times(difference, fft.numbers[fft.unpack + k]), turned = {odd.im, -odd.re};
    const Elements low = sum + turned, high = sum - turned;
    out[k] = {low.re * 0.5f, low.im * 0.5f};
    out[fft.size - k] = {high.re * 0.5f, high.im * -0.5f};
  }
}
// The other way round, conjugated: a forward transform then is the conjugate of the inverse one.
AVIDA_CLONES void pack_bins(const FftTables& fft, const Elements* in, Elements* out) {
  out[0] = {(in[0].re + in[fft.size].re) * 0.5f, (in[0].re - in[fft.size].re) * -0.5f};
  for (long k = 1; k <= fft.size / 2; k++) {
    const Elements a = in[k], b = conjugate(in[fft.size - k]), even = a + b, difference = a - b;
    const Complex<float> twiddle = fft.numbers[fft.unpack + k];
    const Elements odd = times(difference, {twiddle.re, -twiddle.im}), turned = {-odd.im, odd.re};
    const Elements low = even + turned, high = even - turned;
    out[k] = {low.re * 0.5f, low.im * -0.5f};
    out[fft.size - k] = {high.re * 0.5f, high.im * 0.5f};
  }
}
AVIDA_CLONES const Elements* transform_lanes(const FftTables& fft, Elements* const (&buffers)[2]) {
  return fft::transform(fft, buffers);
}

// Two buffers for the transform, and one for bins.
struct Buffers {
  explicit Buffers(const FftTables& fft)
      : memory(allocate((2 * fft.area + fft.size + 1) * static_cast<int64_t>(sizeof(Elements)))) {
    sides[0] = static_cast<Elements*>(memory.get());
    sides[1] = sides[0] + fft.area;
    bins = sides[1] + fft.area;
  }
  Block memory;
  Elements* sides[2];
  Elements* bins;
};

}  // namespace

FrameTransform::FrameTransform(int64_t length) : plan_(FftPlan::of(length)) {
  if (length < 2 || length % 2) refuse("expected an even length of frames, got ", length);
}

FrameSpectra FrameTransform::forward(const float* signal, int64_t n, int64_t frames, int64_t hop, int64_t before,
                                     int64_t used, const float* window) const {
  const FftTables fft = plan_->tables();
  const Buffers buffers(fft);
  FrameSpectra made(frames, bins());
  for (int64_t first = 0; first < frames; first += kLanes) {
    const int64_t count = std::min<int64_t>(kLanes, frames - first);
    auto* elements = reinterpret_cast<float*>(buffers.sides[0]);
    std::fill_n(elements, length() * kLanes, 0.0f);
    for (int64_t lane = 0; lane < count; lane++) {
      const int64_t begin = (first + lane) * hop - before;
      for (int64_t t = std::max<int64_t>(0, -begin), end = std::min(used, n - begin); t < end; t++)
        elements[t * kLanes + lane] = signal[begin + t] * (window ? window[t] : 1);
    }
    unpack_bins(fft, transform_lanes(fft, buffers.sides), buffers.bins);
    const auto* found = reinterpret_cast<const float*>(buffers.bins);
    for (int64_t lane = 0; lane < count; lane++)
      for (int64_t k = 0; k < bins(); k++) {
        made.re(first + lane)[k] = found[2 * k * kLanes + lane];
        made.im(first + lane)[k] = found[(2 * k + 1) * kLanes + lane];
      }
  }
  return made;
}

void FrameTransform::add_inverse(const FrameSpectra& spectra, float* out, int64_t n, int64_t hop, int64_t before,
                                 const float* window) const {
  const FftTables fft = plan_->tables();
  const Buffers buffers(fft);
  const float scale = 1 / static_cast<float>(fft.size);
  for (int64_t first = 0; first < spectra.frames(); first += kLanes) {
    const int64_t count = std::min<int64_t>(kLanes, spectra.frames() - first);
    auto* given = reinterpret_cast<float*>(buffers.bins);
    std::fill_n(given, 2 * bins() * kLanes, 0.0f);
    for (int64_t lane = 0; lane < count; lane++)
      for (int64_t k = 0; k < bins(); k++) {
        given[2 * k * kLanes + lane] = spectra.re(first + lane)[k];
        given[(2 * k + 1) * kLanes + lane] = spectra.im(first + lane)[k];
      }
    pack_bins(fft, buffers.bins, buffers.sides[0]);
    const auto* made = reinterpret_cast<const float*>(transform_lanes(fft, buffers.sides));
    for (int64_t lane = 0; lane < count; lane++) {
      const int64_t begin = (first + lane) * hop - before;
      for (int64_t t = std::max<int64_t>(0, -begin), end = std::min(length(), n - begin); t < end; t++) {
        const float x = made[t * kLanes + lane] * (t % 2 ? -scale : scale);
        out[begin + t] += x * (window ? window[t] : 1);
      }
    }
  }
}

}  // namespace avida
