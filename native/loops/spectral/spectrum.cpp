// Vectors are passed between functions that are inlined into one.
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wpsabi"
#endif
#include "loops/spectral/spectrum.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "core/clones.h"
#include "loops/spectral/fft_lanes.h"
#include "loops/spectral/frame_spectrum.h"
#include "loops/spectral/register_spectrum.h"
#include "operator/launches.h"
#include "runtime/memory.h"

namespace avida {
namespace {

using fft::kLanes;
using fft::Lanes;
using Quad = float __attribute__((vector_size(16)));
using UnalignedQuad = float __attribute__((vector_size(16), aligned(4), may_alias));

template <class Real>
constexpr int lanes_of = sizeof(Real) / sizeof(float);

template <class Real>
AVIDA_INLINE void store_bins(const FftTables& fft, const Complex<Real>* in, bool magnitude, Real* out) {
  for (long item = 0; item < fft::bin_items(fft); item++)
    fft::bins(fft, in, item, [&](long bin, const Real& power) AVIDA_INLINE_LAMBDA { out[bin] = power; });
  if (!magnitude) return;
  auto* numbers = reinterpret_cast<float*>(out);
  for (long i = 0; i < (fft.length / 2 + 1) * lanes_of<Real>; i++) numbers[i] = std::sqrt(numbers[i]);
}

AVIDA_INLINE void transpose(Quad& a, Quad& b, Quad& c, Quad& d) {
  const Quad ac = __builtin_shufflevector(a, c, 0, 4, 1, 5), AC = __builtin_shufflevector(a, c, 2, 6, 3, 7);
  const Quad bd = __builtin_shufflevector(b, d, 0, 4, 1, 5), BD = __builtin_shufflevector(b, d, 2, 6, 3, 7);
  a = __builtin_shufflevector(ac, bd, 0, 4, 1, 5);
  b = __builtin_shufflevector(ac, bd, 2, 6, 3, 7);
  c = __builtin_shufflevector(AC, BD, 0, 4, 1, 5);
  d = __builtin_shufflevector(AC, BD, 2, 6, 3, 7);
}

// Row t of `out` gets element t of each of kLanes frames, times the window; rows are `step` floats apart.
AVIDA_INLINE void load_lanes(const float* const* frames, const float* window, long length, float* out, long step) {
  long t = 0;
  for (; t + 4 <= length; t += 4) {
    const Quad factors = window ? Quad(*reinterpret_cast<const UnalignedQuad*>(window + t)) : Quad{1, 1, 1, 1};
    for (int lane = 0; lane < kLanes; lane += 4) {
      Quad rows[4];
      for (int i = 0; i < 4; i++)
        rows[i] = Quad(*reinterpret_cast<const UnalignedQuad*>(frames[lane + i] + t)) * factors;
      transpose(rows[0], rows[1], rows[2], rows[3]);
      for (int i = 0; i < 4; i++) *reinterpret_cast<UnalignedQuad*>(out + (t + i) * step + lane) = rows[i];
    }
  }
  for (; t < length; t++)
    for (int lane = 0; lane < kLanes; lane++) out[t * step + lane] = frames[lane][t] * (window ? window[t] : 1);
}
AVIDA_INLINE void load_lane(const float* frame, const float* window, long length, float* out, long step) {
  for (long t = 0; t < length; t++) out[t * step] = frame[t] * (window ? window[t] : 1);
}

// The buffers of one thread: frames whose elements do not adjoin, two for the transform, and the result.
template <class Real>
class Buffers {
 public:
  static constexpr int lanes = lanes_of<Real>;
  Buffers(const FftTables& fft, long window_length)
      : memory_(allocate(((2 * fft.area + fft.length) * int64_t{sizeof(Complex<Real>)}) + window_length * lanes * 4)) {
    sides[0] = static_cast<Complex<Real>*>(memory_.get());
    sides[1] = sides[0] + fft.area;
    bins = reinterpret_cast<Real*>(sides[1] + fft.area);
    frames = reinterpret_cast<float*>(bins + 2 * fft.length);
  }
  Complex<Real>* sides[2];
  Real* bins;
  float* frames;

 private:
  Block memory_;
};

template <class Real>
AVIDA_INLINE void spectra(const FftTables& fft, const FrameGrid& grid, const float* const* frames,
                          const Buffers<Real>& buffers) {
  constexpr int lanes = lanes_of<Real>;
  const long step = fft.packed ? lanes : 2 * lanes, length = std::min(grid.window_length, fft.length);
  auto* elements = reinterpret_cast<float*>(buffers.sides[0]);
  if (!fft.packed || length < fft.length) std::memset(elements, 0, fft.size * sizeof(Complex<Real>));
  if constexpr (lanes == 1)
    load_lane(frames[0], grid.window, length, elements, step);
  else
    load_lanes(frames, grid.window, length, elements, step);
  store_bins(fft, fft::transform(fft, buffers.sides), grid.magnitude, buffers.bins);
}
AVIDA_CLONES void spectra_of_lanes(const FftTables& fft, const FrameGrid& grid, const float* const* frames,
                                   const Buffers<Lanes>& buffers) {
  spectra(fft, grid, frames, buffers);
}
// Not compiled for other instruction sets: GCC 12 would use fused multiply-add for it, in spite of -ffp-contract=off.
void spectrum_of_one(const FftTables& fft, const FrameGrid& grid, const float* const* frames,
                     const Buffers<float>& buffers) {
  spectra(fft, grid, frames, buffers);
}

// The elements of a frame: where they are, or copied to `to`.
const float* frame_of(const FrameGrid& grid, long frame, long length, float* to) {
  const long begin = frame * grid.hop - grid.before;
  if (grid.in_step == 1 && begin >= 0 && begin + length <= grid.line_length) return grid.in + grid.line(frame) + begin;
  for (long t = 0; t < length; t++) to[t] = grid.element(frame, t);
  return to;
}

void store_lanes(const FrameGrid& grid, long first, long frames, long bins, const float* from, int lanes) {
  if (lanes == kLanes && grid.inner == 1 && grid.out_outside == 1) {
    for (long bin = 0; bin < bins; bin++)
      std::copy_n(from + bin * lanes, frames, grid.out + first + bin * grid.out_step);
    return;
  }
  for (long k = 0; k < frames; k++) {
    float* to = grid.out + grid.output(first + k);
    for (long bin = 0; bin < bins; bin++) to[bin * grid.out_step] = from[bin * lanes + k];
  }
}

template <class Real>
void run_groups(const FftTables& fft, const FrameGrid& grid, int64_t begin, int64_t end) {
  constexpr int lanes = lanes_of<Real>;
  const long length = std::min(grid.window_length, fft.length);
  const Buffers<Real> buffers(fft, length);
  for (int64_t group = begin; group < end; group++) {
    const long first = group * lanes, count = std::min<long>(lanes, grid.frames - first);
    const float* frames[lanes] = {};
    for (int k = 0; k < lanes; k++)  // frames that are missing are not stored
      frames[k] = k < count ? frame_of(grid, first + k, length, buffers.frames + k * length) : frames[0];
    if constexpr (lanes == 1)
      spectrum_of_one(fft, grid, frames, buffers);
    else
      spectra_of_lanes(fft, grid, frames, buffers);
    store_lanes(grid, first, count, fft.length / 2 + 1, reinterpret_cast<const float*>(buffers.bins), lanes);
  }
}

}  // namespace

// Long transforms are made one by one: those of sixteen frames would not fit into a cache.
Spectrum::Spectrum(const FrameGrid& grid, long fft_length)
    : grid_(grid), plan_(FftPlan::of(fft_length)), lanes_(grid.frames == 1 || fft_length > (1 << 16) ? 1 : kLanes) {}

void Spectrum::run(const FrameGrid& grid, int64_t begin, int64_t end) const {
  if (lanes_ == 1)
    run_groups<float>(plan_->tables(), grid, begin, end);
  else
    run_groups<Lanes>(plan_->tables(), grid, begin, end);
}

namespace {

// Adds the kernel for the packed transform of `size` elements in registers; false if there is none.
template <int size = 64>
bool add_register_spectrum(Launches& launches, const FrameGrid& grid, const FftTables& fft) {
  if constexpr (size > 1024) {
    return false;
  } else {
    if (fft.size != size) return add_register_spectrum<2 * size>(launches, grid, fft);
    using Body = RegisterSpectrum<size>;
    launches.add<Body>(0, (grid.frames + Body::kFrames - 1) / Body::kFrames, {grid, fft.numbers});
    return true;
  }
}

}  // namespace

void Spectrum::launch(Launches& launches, FrameGrid grid, std::span<const float> window) const {
  constexpr long kMostMemory = 64 << 20;  // for frames that are transformed at a time
  grid.window = window.empty() ? nullptr : launches.upload(window);
  FftTables fft = plan_->tables();
  fft.numbers = launches.upload(std::span(plan_->numbers()));
  if (fft.packed && add_register_spectrum(launches, grid, fft)) return;
  fft.steps = launches.upload(std::span(plan_->steps()));
  if (fft.area <= FrameSpectrum::kShared) {
    const int group = FrameSpectrum::group_of(fft.area);
    return launches.add<FrameSpectrum>(0, (grid.frames + group - 1) / group,
                                       {grid, fft, nullptr, 0, FrameSpectrum::pitch_of(fft.area), group});
  }
  const int64_t bytes = 2 * fft.area * int64_t{sizeof(Complex<float>)};
  const long count = std::clamp<long>(kMostMemory / bytes, 1, std::max(1L, grid.frames));
  auto* memory = static_cast<Complex<float>*>(launches.scratch(count * bytes));
  for (long first = 0; first < grid.frames; first += count) {
    launches.add<FrameSpectrum>(first, std::min(grid.frames, first + count), {grid, fft, memory, first, fft.area, 1});
    launches.then();
  }
}

}  // namespace avida
