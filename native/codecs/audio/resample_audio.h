// Resamples sound with a windowed sinc filter.
#pragma once
#include <cstdint>
#include <vector>

namespace avida {

// The number of lobes of the filter on each side: 3 for quality 0, 16 for 50, 64 for 100. Throws Error outside of 0 to
// 100.
int resampling_lobes(double quality);

// The number of elements of a signal after resampling. Throws Error for rates that are not above 0 or too far apart.
int64_t resampled_length(int64_t length, double in_rate, double out_rate);

// The weights of the filter, for positions between two input elements in steps of 1/32.
class ResamplingFilter {
 public:
  static constexpr int kSteps = 32;

  explicit ResamplingFilter(int lobes);
  // Returns a shared filter for each number of lobes.
  static const ResamplingFilter& shared(int lobes);

  // Writes the elements [begin, end) of the resampled signal, `out_step` elements apart. The input is padded with
  // silence.
  void run(const float* in, int64_t length, double in_rate, double out_rate, int64_t begin, int64_t end, float* out,
           int64_t out_step = 1) const;

  int taps() const { return taps_; }
  const std::vector<float>& weights() const { return weights_; }

 private:
  int lobes_;
  int taps_;                    // per row: a multiple of the lanes
  std::vector<float> weights_;  // kSteps + 1 rows, for fractions 0, 1/32, ..., 1 of the position
};

}  // namespace avida
