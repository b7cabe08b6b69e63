// The spectra of frames on a GPU: one thread block transforms a few frames. Read by NVRTC too: no std headers.
#pragma once
#include "loops/items/kernel_inline.h"
#include "loops/spectral/fft.h"
#include "loops/spectral/frame_grid.h"

namespace avida {

struct FrameSpectrum {
  static constexpr const char* header = "loops/spectral/frame_spectrum.h";
  static constexpr int kThreads = 256, kBlocks = 3, kPhases = 4, kRepeated = 1;
  static constexpr long kShared = 2048;  // elements of a buffer

  struct Params {
    FrameGrid grid;
    FftTables fft;
    Complex<float>* memory;  // two buffers for each frame from `first` on, where shared memory is too small; else null
    long first;
    long pitch;  // elements from one frame's buffer to the next
    int group;   // frames of an item
  };
  struct Shared {
    Complex<float> buffers[2][kShared];
    int step;
  };

  // How frames share the buffers in shared memory. An odd distance keeps them apart in its banks.
  AVIDA_HD static constexpr long pitch_of(long area) { return area <= kShared / 2 ? area | 1 : area; }
  AVIDA_HD static constexpr int group_of(long area) { return static_cast<int>(kShared / pitch_of(area)); }

  // A repeated phase tells whether it has to be run again.
  template <int phase>
  AVIDA_HD AVIDA_KERNEL_INLINE static bool run(const Params& params, Shared& shared, long item, int thread) {
    const FftTables& fft = params.fft;
    const long first = item * params.group, left = params.grid.frames - first;
    const long frames = left < params.group ? left : params.group;
    if constexpr (phase == 0) {
      load(params, shared, first, frames, thread);
      if (thread == 0) shared.step = 0;
    } else if constexpr (phase == 1) {
      if (shared.step < fft.count) transform(params, shared, first, frames, thread);
    } else if constexpr (phase == 2) {
      if (thread != 0) return false;
      return ++shared.step < fft.count;
    } else {
      store(params, shared, first, frames, thread);
    }
    return false;
  }

 private:
  AVIDA_HD AVIDA_INLINE static Complex<float>* buffer(const Params& params, Shared& shared, int side, long first,
                                                      long k) {
    if (!params.memory) return shared.buffers[side] + k * params.pitch;
    return params.memory + (2 * (first - params.first + k) + side) * params.pitch;
  }

  AVIDA_HD AVIDA_INLINE static void load(const Params& params, Shared& shared, long first, long frames, int thread) {
    const FrameGrid& grid = params.grid;
    const long length = params.fft.length;
    for (long i = thread; i < frames * length; i += kThreads) {
      const auto [k, t] = divided(i, length);
      float x = t < grid.window_length ? grid.element(first + k, t) : 0;
      if (grid.window && t < grid.window_length) x *= grid.window[t];
      Complex<float>* to = buffer(params, shared, 0, first, k);
      if (!params.fft.packed)
        to[t] = {x, 0};
      else if (t % 2 == 0)
        to[t / 2].re = x;
      else
        to[t / 2].im = x;
    }
  }

  AVIDA_HD AVIDA_INLINE static void transform(const Params& params, Shared& shared, long first, long frames,
                                              int thread) {
    const FftStep step = params.fft.steps[shared.step];
    const int side = shared.step % 2;
    for (long i = thread; i < frames * step.items; i += kThreads) {
      const auto [k, at] = divided(i, step.items);
      const Complex<float>* in = buffer(params, shared, side, first, k);
      Complex<float>* out = buffer(params, shared, 1 - side, first, k);
      const auto [p, q] = divided(at, step.stride);
      if (step.radix > 0)
        fft::butterfly(step, params.fft.numbers + step.numbers, in, out, p, q);
      else
        fft::convolution_step(step, params.fft, in, out, at);
    }
  }

  AVIDA_HD AVIDA_INLINE static void store(const Params& params, Shared& shared, long first, long frames, int thread) {
    const FrameGrid& grid = params.grid;
    const long items = fft::bin_items(params.fft);
    const bool frames_adjoin = grid.out_step > 1;
    for (long i = thread; i < frames * items; i += kThreads) {
      const auto [whole, rest] = divided(i, frames_adjoin ? frames : items);
      const long k = frames_adjoin ? rest : whole, item = frames_adjoin ? whole : rest;
      float* out = grid.out + grid.output(first + k);
      fft::bins(params.fft, buffer(params, shared, params.fft.count % 2, first, k), item,
                [&](long bin, float power) { out[bin * grid.out_step] = grid.magnitude ? math::sqrt(power) : power; });
    }
  }
};

}  // namespace avida
