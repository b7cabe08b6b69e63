// `augment.impulse_response`: convolves signals with responses, by transforms of parts of both.
#include <algorithm>
#include <bit>

#include "core/clones.h"
#include "loops/spectral/frame_transform.h"
#include "ops/sound/signals.h"

namespace avida::ops {
namespace {

struct ResponseArgs {
  bool tail = false;
};

AVIDA_CLONES void add_products(float* __restrict re, float* __restrict im, const float* __restrict a_re,
                               const float* __restrict a_im, const float* __restrict b_re, const float* __restrict b_im,
                               int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    re[i] += a_re[i] * b_re[i] - a_im[i] * b_im[i];
    im[i] += a_re[i] * b_im[i] + a_im[i] * b_re[i];
  }
}

// Parts of the response, and of the signal, that are as long as half a frame: a part of the result is the sum of
// products of all pairs that are as far apart.
std::vector<float> convolved(const std::vector<float>& signal, const std::vector<float>& response, int64_t n) {
  const int64_t length = std::ssize(signal), taps = std::ssize(response);
  const auto part = static_cast<int64_t>(std::clamp<uint64_t>(std::bit_ceil(static_cast<uint64_t>(taps)), 128, 2048));
  const FrameTransform transform(2 * part);
  const int64_t blocks = (length + part - 1) / part, parts = (taps + part - 1) / part;
  const FrameSpectra x = transform.forward(signal.data(), length, blocks, part, 0, part, nullptr);
  const FrameSpectra h = transform.forward(response.data(), taps, parts, part, 0, part, nullptr);
  FrameSpectra y(std::min(blocks + parts - 1, (n + part - 1) / part), transform.bins());
  for (int64_t block = 0; block < y.frames(); block++)
    for (int64_t k = std::max<int64_t>(0, block - blocks + 1); k < std::min(parts, block + 1); k++)
      add_products(y.re(block), y.im(block), x.re(block - k), x.im(block - k), h.re(k), h.im(k), y.bins());
  std::vector<float> made(n);
  transform.add_inverse(y, made.data(), n, part, 0, nullptr);
  return made;
}

class ResponsePlan {
 public:
  explicit ResponsePlan(const Sample<ResponseArgs>& sample)
      : signals_(sample.in[0]), responses_(sample.in[1]), shape_(sample.in[0].shape) {
    if (responses_.channels != 1 && responses_.channels != signals_.channels)
      refuse("expected a response with one channel or ", signals_.channels, ", got ", responses_.channels);
    if (responses_.length == 0) refuse("expected a response with at least one element");
    if (sample.args.tail && signals_.length > 0) shape_[0] += responses_.length - 1;
  }

  const Shape& shape() const { return shape_; }
  int64_t rows() const { return shape_[0] > 0 ? signals_.channels : 0; }
  void run(const Sample<ResponseArgs>& sample) const {
    for (int64_t c = sample.begin; c < sample.end; c++) {
      const std::vector<float> made = convolved(
          signals_.load(sample.in[0], c), responses_.load(sample.in[1], responses_.channels > 1 ? c : 0), shape_[0]);
      Signals::store(sample.out[0], signals_.channels, c, made.data(), std::ssize(made));
    }
  }

 private:
  const Signals signals_, responses_;
  Shape shape_;
};

}  // namespace

AVIDA_OP_IN(augment, impulse_response, ResponseArgs) {
  op.doc("Makes sound as in a room, or through a microphone. It is convolved with an impulse response.")
      .input("signal", "The signals: float32, with the axes time, or time and channels.")
      .input("response", "What an impulse sounds like there: one for each signal, with one channel or as many.")
      .arg("tail", &ResponseArgs::tail, "Whether what sounds on after the end is kept; if not, lengths stay.")
      .infer(infer_signals<ResponseArgs>)
      .example("avida.augment.impulse_response(np.float32([1, 0, 0, 2]), np.float32([1, 0.5]))")
      .each_sample<ResponsePlan>()
      .cost(60)
      .on_cpu();
}

}  // namespace avida::ops
