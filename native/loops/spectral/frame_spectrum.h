// The spectra of frames on a GPU: one thread block transforms a few frames. Read by NVRTC too: no std headers.
#pragma once
#include "device/border.h"
#include "loops/items/kernel_inline.h"
#include "loops/spectral/fft.h"

namespace avida {

// Where the frames of a sample lie. Frame f has the elements from f * hop - before on of the line f.
struct FrameGrid {
  const float* in;
  float* out;
  const float* window;  // factors of the elements; null for ones
  long window_length;   // elements of a frame; zeros follow up to the length of the transform
  long frames, inner;   // lines: `inner` adjacent ones are `inside` apart, groups of them `outside`
  long in_outside, in_inside, in_step, line_length;
  long out_outside, out_inside, out_step;
  long hop, before;
  Border border;
  bool magnitude;  // and not its square

  AVIDA_HD AVIDA_INLINE long line(long frame) const { return frame / inner * in_outside + frame % inner * in_inside; }
  AVIDA_HD AVIDA_INLINE long output(long frame) const {
    return frame / inner * out_outside + frame % inner * out_inside;
  }
  // Element t of a frame, without the window.
  AVIDA_HD AVIDA_INLINE float element(long frame, long t) const {
    const long at = border_index(border, frame * hop - before + t, line_length);
    return at < 0 ? 0 : in[line(frame) + at * in_step];
  }
};

struct FrameSpectrum {
  static constexpr const char* header = "loops/spectral/frame_spectrum.h";
  static constexpr int kThreads = 256, kPhases = 4, kRepeated = 1;
  static constexpr long kShared = 2048;  // elements of a buffer

  struct Params {
    FrameGrid grid;
    FftTables fft;
    Complex<float>* memory;  // two buffers for each frame from `first` on, where shared memory is too small; else null
    long first;
    int group;  // frames of an item
  };
  struct Shared {
    Complex<float> buffers[2][kShared];
    int step;
  };

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
    if (!params.memory) return shared.buffers[side] + k * params.fft.area;
    return params.memory + (2 * (first - params.first + k) + side) * params.fft.area;
  }

  AVIDA_HD AVIDA_INLINE static void load(const Params& params, Shared& shared, long first, long frames, int thread) {
    const FrameGrid& grid = params.grid;
    const long length = params.fft.length;
    for (long i = thread; i < frames * length; i += kThreads) {
      const long k = i / length, t = i % length;
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
      const long k = i / step.items, at = i % step.items;
      const Complex<float>* in = buffer(params, shared, side, first, k);
      Complex<float>* out = buffer(params, shared, 1 - side, first, k);
      if (step.radix > 0)
        fft::butterfly(step, params.fft.numbers + step.numbers, in, out, at / step.stride, at % step.stride);
      else
        fft::convolution_step(step, params.fft, in, out, at);
    }
  }

  AVIDA_HD AVIDA_INLINE static void store(const Params& params, Shared& shared, long first, long frames, int thread) {
    const FrameGrid& grid = params.grid;
    const long items = fft::bin_items(params.fft);
    const bool frames_adjoin = grid.out_step > 1;
    for (long i = thread; i < frames * items; i += kThreads) {
      const long k = frames_adjoin ? i % frames : i / items, item = frames_adjoin ? i / frames : i % items;
      float* out = grid.out + grid.output(first + k);
      fft::bins(params.fft, buffer(params, shared, params.fft.count % 2, first, k), item,
                [&](long bin, float power) { out[bin * grid.out_step] = grid.magnitude ? math::sqrt(power) : power; });
    }
  }
};

}  // namespace avida
