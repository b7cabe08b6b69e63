// The steps and constants of a Fourier transform of real signals, of any length.
#pragma once
#include <memory>
#include <vector>

#include "loops/spectral/fft.h"

namespace avida {

class FftPlan {
 public:
  explicit FftPlan(long length);
  // The plan of a length, from a cache of recent ones.
  static std::shared_ptr<const FftPlan> of(long length);

  long length() const { return tables_.length; }
  long bins() const { return tables_.length / 2 + 1; }
  // With pointers to the host's memory, valid as long as the plan.
  FftTables tables() const;
  const std::vector<FftStep>& steps() const { return steps_; }
  const std::vector<Complex<float>>& numbers() const { return numbers_; }

 private:
  void add_butterflies(long size);
  void add_convolution();
  void add_step(int radix, long items, long stride = 1);

  FftTables tables_{};
  std::vector<FftStep> steps_;
  std::vector<Complex<float>> numbers_;
};

}  // namespace avida
