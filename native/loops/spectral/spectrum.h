// The family of operators that make spectra of frames of a signal.
#pragma once
#include <memory>

#include "loops/spectral/fft_plan.h"
#include "loops/spectral/frame_grid.h"
#include "operator/sample.h"

namespace avida {

// Spectra of all frames of a grid. The work consists of groups(), which threads share.
class Spectrum {
 public:
  Spectrum(const FrameGrid& grid, long fft_length);

  long bins() const { return plan_->bins(); }
  int64_t groups() const { return (grid_.frames + lanes_ - 1) / lanes_; }
  // Makes the groups [work.begin, work.end) from in[0] to out[0]; `window` may be empty.
  template <class Work>
  void run(const Work& work, std::span<const float> window) const {
    FrameGrid grid = grid_;
    grid.in = work.in[0].template as<const float>();
    grid.out = work.out[0].template as<float>();
    grid.window = window.empty() ? nullptr : window.data();
    if (work.launches)
      launch(*work.launches, grid, window);
    else
      run(grid, work.begin, work.end);
  }

 private:
  void run(const FrameGrid& grid, int64_t begin, int64_t end) const;
  void launch(Launches& launches, FrameGrid grid, std::span<const float> window) const;

  FrameGrid grid_;
  std::shared_ptr<const FftPlan> plan_;
  int lanes_;
};

}  // namespace avida
