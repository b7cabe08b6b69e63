// Frames of real signals to frequencies and back, on the CPU: what is made of spectra before they are signals again.
#pragma once
#include <memory>
#include <vector>

#include "loops/spectral/fft_plan.h"

namespace avida {

// Spectra of frames: the real parts of the bins of a frame, then the imaginary ones.
class FrameSpectra {
 public:
  FrameSpectra(int64_t frames, int64_t bins) : frames_(frames), bins_(bins), numbers_(2 * frames * bins) {}

  int64_t frames() const { return frames_; }
  int64_t bins() const { return bins_; }
  float* re(int64_t frame) { return numbers_.data() + 2 * frame * bins_; }
  float* im(int64_t frame) { return re(frame) + bins_; }
  const float* re(int64_t frame) const { return numbers_.data() + 2 * frame * bins_; }
  const float* im(int64_t frame) const { return re(frame) + bins_; }

 private:
  int64_t frames_, bins_;
  std::vector<float> numbers_;
};

// Of frames with an even length; sixteen are transformed at once.
class FrameTransform {
 public:
  explicit FrameTransform(int64_t length);

  int64_t length() const { return plan_->length(); }
  int64_t bins() const { return plan_->bins(); }
  // Frame f begins at signal[f * hop - before] and is multiplied by the window, if there is one; beyond its ends the
  // signal is silent. Only the first `used` elements of frames are read, the others are zero.
  FrameSpectra forward(const float* signal, int64_t n, int64_t frames, int64_t hop, int64_t before, int64_t used,
                       const float* window) const;
  // Adds the frames that have these spectra to out[f * hop - before], of n elements.
  void add_inverse(const FrameSpectra& spectra, float* out, int64_t n, int64_t hop, int64_t before,
                   const float* window) const;

 private:
  std::shared_ptr<const FftPlan> plan_;
};

}  // namespace avida
