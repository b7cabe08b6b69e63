// The spectra of frames of 2 ** k elements on a GPU: threads make two steps of a transform in registers before they
// exchange elements in shared memory. Read by NVRTC too: no std headers.
#pragma once
#include "device/unroll.h"
#include "loops/items/kernel_inline.h"
#include "loops/spectral/fft.h"
#include "loops/spectral/frame_grid.h"

namespace avida {

// `size` complex numbers are transformed, packed from twice as many real ones. The steps are those of FftPlan, radix 4
// and at last perhaps 2; a pass makes two of them, and gives the same bits.
template <int size>
struct RegisterSpectrum {
  static constexpr const char* header = "loops/spectral/register_spectrum.h";
  static constexpr int kThreads = 256, kBlocks = 3;
  static constexpr int kPasses = size > 256 ? 3 : 2, kPhases = kPasses + 1;
  static constexpr int kElements = 16;                  // that a thread holds
  static constexpr int kTogether = size / kElements;    // threads that transform a frame
  static constexpr int kFrames = kThreads / kTogether;  // of an item
  static_assert(size >= 64 && size <= 1024);

  struct Params {
    FrameGrid grid;
    const Complex<float>* numbers;  // of the FftPlan
  };
  struct Shared {
    // One unused element after every 16, and distances of frames, keep the accesses of 16 threads apart in the banks.
    static constexpr int kPitch = size + size / 16 + (kFrames < 16 ? 16 / kFrames : 1);
    Complex<float> frames[kFrames][kPitch];
  };

  template <int phase>
  AVIDA_HD AVIDA_KERNEL_INLINE static void run(const Params& params, Shared& shared, long item, int thread) {
    const long first = item * kFrames, left = params.grid.frames - first;
    const int k = thread / kTogether, lane = thread % kTogether;
    if constexpr (phase == kPasses) {
      store(params, shared, first, left, thread);
    } else if (k < left) {
      Complex<float>* frame = shared.frames[k];
      if constexpr (phase == 0)
        first_pass(params, frame, first + k, lane);
      else
        later_pass<phase>(params, frame, lane);
    }
  }

 private:
  static constexpr int kRadix = 16;  // of every pass but the last
  AVIDA_HD static constexpr int stride_of(int pass) { return pass == 0 ? 1 : kRadix * stride_of(pass - 1); }
  AVIDA_HD static constexpr int radix_of(int pass) { return pass < kPasses - 1 ? kRadix : size / stride_of(pass); }

  // The index of the twiddle factors for steps that `left` elements are left to.
  AVIDA_HD static constexpr int numbers_of(int left) {
    int index = 0;
    for (int n = size; n > left; n /= 4) index += n / 4 * 3;
    return index;
  }
  static constexpr int kUnpack = numbers_of(size % 3 == 1 ? 1 : 2) + (size % 3 == 1 ? 0 : 1);  // 4 ** k % 3 is 1

  // The place of an element after the first pass. A middle pass leaves its results where it has found the elements.
  AVIDA_HD AVIDA_INLINE static int place(int index) {
    const int at = kPasses == 2 ? index : index % 16 + 16 * (index / 256 + size / 256 * (index / 16 % 16));
    return at + at / 16;
  }

  // Two steps (or one, if the second radix is 1) with all elements x of a butterfly of radix first * second, of which
  // `left` elements are left in all. Element i is i * (left / radix) after the p-th.
  template <int left, int first, int second>
  AVIDA_HD AVIDA_INLINE static void butterfly(const Params& params, Complex<float> (&x)[first * second], int p) {
    const Complex<float>* numbers = params.numbers + numbers_of(left);
    Complex<float> between[first][second];
    AVIDA_UNROLL
    for (int j = 0; j < second; j++) {
      Complex<float> part[first];
      AVIDA_UNROLL
      for (int k = 0; k < first; k++) part[k] = x[j + second * k];
      fft::turn(numbers + (first - 1) * (p + j * (left / (first * second))), part);
      AVIDA_UNROLL
      for (int k = 0; k < first; k++) between[k][j] = part[k];
    }
    numbers = params.numbers + numbers_of(left / first);
    AVIDA_UNROLL
    for (int k = 0; k < first; k++) {
      if constexpr (second > 1) fft::turn(numbers + (second - 1) * p, between[k]);
      AVIDA_UNROLL
      for (int m = 0; m < second; m++) x[k + first * m] = between[k][m];
    }
  }
  template <int left, int radix>
  AVIDA_HD AVIDA_INLINE static void butterfly(const Params& params, Complex<float> (&x)[radix], int p) {
    constexpr int first = radix < 4 ? radix : 4;
    butterfly<left, first, radix / first>(params, x, p);
  }

  AVIDA_HD AVIDA_INLINE static void first_pass(const Params& params, Complex<float>* frame, long number, int lane) {
    const FrameGrid& grid = params.grid;
    Complex<float> x[kElements];
    if (grid.in_step == 1 && grid.is_inside(number, grid.window_length)) {
      const float* from = grid.in + grid.line(number) + grid.begin(number);
      AVIDA_UNROLL
      for (int i = 0; i < kElements; i++) x[i] = windowed(grid, lane + kTogether * i, [&](int t) { return from[t]; });
    } else {
      Complex<float> padded[kElements];
      AVIDA_DO_NOT_UNROLL  // few frames need it, and its code is long
          for (int i = 0; i < kElements; i++) padded[i] =
              windowed(grid, lane + kTogether * i, [&](int t) { return grid.element(number, t); });
      AVIDA_UNROLL
      for (int i = 0; i < kElements; i++) x[i] = padded[i];
    }
    butterfly<size, kRadix>(params, x, lane);
    AVIDA_UNROLL
    for (int i = 0; i < kElements; i++) frame[kRadix * lane + i + lane] = x[i];
  }
  // The elements 2 * i and 2 * i + 1 of a frame.
  template <class Element>
  AVIDA_HD AVIDA_INLINE static Complex<float> windowed(const FrameGrid& grid, int i, Element&& element) {
    auto one = [&](int t) {
      if (t >= grid.window_length) return 0.0f;
      return grid.window ? element(t) * grid.window[t] : element(t);
    };
    return {one(2 * i), one(2 * i + 1)};
  }

  template <int pass>
  AVIDA_HD AVIDA_INLINE static void later_pass(const Params& params, Complex<float>* frame, int lane) {
    constexpr int stride = stride_of(pass), radix = radix_of(pass), left = size / stride, step = left / radix;
    AVIDA_UNROLL
    for (int item = lane; item < size / radix; item += kTogether) {
      const int p = item / stride, q = item % stride;
      auto at = [&](int i) {
        const int index = q + stride * (p + step * i);
        return pass == 1 ? index + index / 16 : place(index);
      };
      Complex<float> x[radix];
      AVIDA_UNROLL
      for (int i = 0; i < radix; i++) x[i] = frame[at(i)];
      butterfly<left, radix>(params, x, p);
      AVIDA_UNROLL
      for (int i = 0; i < radix; i++) frame[at(i)] = x[i];
    }
  }

  // Adjacent threads store what adjoins: bins of a frame, or a bin of several frames.
  AVIDA_HD AVIDA_INLINE static void store(const Params& params, Shared& shared, long first, long left, int thread) {
    const FrameGrid& grid = params.grid;
    const bool frames_adjoin = grid.out_step > 1;
    const int k = frames_adjoin ? thread % kFrames : thread / kTogether;
    if (k >= left) return;
    const Complex<float>* frame = shared.frames[k];
    float* out = grid.out + grid.output(first + k);
    const int step = frames_adjoin ? kThreads / kFrames : kTogether;
    for (int item = frames_adjoin ? thread / kFrames : thread % kTogether; item <= size / 2; item += step) {
      const int other = size - item;
      const auto powers =
          fft::unpacked(frame[place(item)], frame[place(item == 0 ? 0 : other)], params.numbers[kUnpack + item]);
      out[item * grid.out_step] = grid.magnitude ? math::sqrt(powers.bin) : powers.bin;
      if (other != item) out[other * grid.out_step] = grid.magnitude ? math::sqrt(powers.other) : powers.other;
    }
  }
};

}  // namespace avida
