#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>

#include "loops/spectral/band_sums.h"
#include "operator/declare.h"
#include "ops/sound/sound.h"

namespace avida::ops {
namespace {

struct MfccArgs {
  int axis = 0, dct_type = 2;
  float lifter = 0;
  int n_mfcc = 20;
  bool normalize = false;
};

// The factor of element i in coefficient k of a discrete cosine transform of n elements.
double dct_weight(int type, int64_t n, int64_t k, int64_t i) {
  const auto real_n = static_cast<double>(n), real_k = static_cast<double>(k), real_i = static_cast<double>(i);
  constexpr double pi = std::numbers::pi;
  switch (type) {
    case 1:
      return i == 0 ? 0.5 : i == n - 1 ? (k % 2 == 0 ? 0.5 : -0.5) : std::cos(pi * real_i * real_k / (real_n - 1));
    case 2:
      return std::cos(pi * (real_i + 0.5) * real_k / real_n);
    case 3:
      return i == 0 ? 0.5 : std::cos(pi * real_i * (real_k + 0.5) / real_n);
    default:
      return std::cos(pi * (real_i + 0.5) * (real_k + 0.5) / real_n);
  }
}

// What makes the transform orthonormal.
double dct_norm(int type, int64_t n, int64_t k, int64_t i) {
  const double norm = std::sqrt(2 / static_cast<double>(n));
  if (type == 2 && k == 0) return norm * std::numbers::sqrt2 / 2;
  if (type == 3 && i == 0) return norm * std::numbers::sqrt2;
  return norm;
}

double lifter_factor(double lifter, int64_t k) {
  if (lifter == 0) return 1;
  return 1 + lifter / 2 * std::sin(std::numbers::pi * static_cast<double>(k + 1) / lifter);
}

BandMatrix dct_matrix(const MfccArgs& args, int64_t n) {
  BandMatrix matrix;
  std::vector<float> row(n);
  for (int64_t k = 0; k < std::min<int64_t>(args.n_mfcc, n); k++) {
    for (int64_t i = 0; i < n; i++)
      row[i] = static_cast<float>(dct_weight(args.dct_type, n, k, i) * lifter_factor(args.lifter, k) *
                                  (args.normalize ? dct_norm(args.dct_type, n, k, i) : 1));
    matrix.add_row(0, row);
  }
  return matrix;
}

std::shared_ptr<const BandMatrix> matrix_of(const MfccArgs& args, int64_t n) {
  if (args.dct_type == 1 && n == 1) refuse("a DCT of type 1 needs at least 2 elements along the axis, got 1");
  using Key = std::tuple<int64_t, int, float, int, bool>;
  thread_local Recent<Key, BandMatrix, 4> recent;
  return recent.find({n, args.dct_type, args.lifter, args.n_mfcc, args.normalize},
                     [&](const Key&) { return dct_matrix(args, n); });
}

class MfccPlan : public BandSums {
 public:
  explicit MfccPlan(const Sample<MfccArgs>& sample)
      : BandSums(matrix_of(sample.args, sample.in[0].shape[sample.args.axis]), sample.in[0].shape, sample.args.axis) {}
};

void infer(Infer<MfccArgs>& call) {
  const MfccArgs& args = call.args;
  check_float32(call.in[0]);
  if (call.in[0].ndim < 2) refuse("expected mel spectrograms of two axes or more, got ", call.in[0].ndim);
  if (args.axis < 0 || args.axis >= call.in[0].ndim)
    refuse("expected an axis from 0 to ", call.in[0].ndim - 1, ", got ", args.axis);
  if (args.n_mfcc <= 0) refuse("expected an n_mfcc above 0, got ", args.n_mfcc);
  if (args.dct_type < 1 || args.dct_type > 4) refuse("expected a dct_type from 1 to 4, got ", args.dct_type);
  if (args.dct_type == 1 && args.normalize) refuse("a DCT of type 1 cannot be normalized: pass normalize=False");
}

}  // namespace

AVIDA_OP(mfcc, MfccArgs) {
  using Args = MfccArgs;
  op.doc(
        "Computes mel-frequency cepstral coefficients (MFCC). They are the discrete cosine transform of mel "
        "spectrograms, which usually are in decibels.")
      .input("input", "Mel spectrograms in float32.")
      .arg("axis", &Args::axis, "The axis of the frequencies.", fixed)
      .arg("dct_type", &Args::dct_type, "The type of the discrete cosine transform: 1, 2, 3 or 4.", fixed)
      .arg("lifter", &Args::lifter,
           "If not 0, coefficient i is multiplied by 1 + lifter / 2 * sin(pi * (i + 1) / lifter).", fixed)
      .arg("n_mfcc", &Args::n_mfcc, "The number of coefficients; at most as many as there are frequencies.", fixed)
      .arg("normalize", &Args::normalize, "Whether the transform is orthonormal; not for type 1.", fixed)
      .example("avida.mfcc(np.ones((40, 10), np.float32), n_mfcc=13)")
      .infer(infer)
      .each_sample<MfccPlan>()
      .cost(4);
}

}  // namespace avida::ops
