#include "operator/declare.h"

namespace avida::ops {
namespace {

struct RandomMaskPixelArgs {
  int foreground = 0;
  float threshold = 0;
  std::optional<int> value;
};

// Calls fn with a predicate that tells whether an element belongs to the foreground.
template <class Fn>
int64_t with_foreground(const SampleView& in, const RandomMaskPixelArgs& args, Fn fn) {
  return with_dtype(in.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    auto number = [mask = in.as<T>()](int64_t i) {
      return static_cast<double>(typename ComputeType<T>::type(mask[i]));
    };
    if (args.value)
      return fn([number, value = static_cast<double>(*args.value)](int64_t i) { return number(i) == value; });
    return fn([number, threshold = double{args.threshold}](int64_t i) { return number(i) > threshold; });
  });
}

// The index of a random element of the foreground; -1: there is none.
int64_t draw_foreground(const SampleView& in, const RandomMaskPixelArgs& args, RandomStream& random) {
  return with_foreground(in, args, [&](auto is_foreground) -> int64_t {
    constexpr int64_t part = 4096;  // elements that are counted together, so that the drawn one is soon found
    std::vector<int> counts;
    int64_t found = 0;
    for (int64_t first = 0; first < in.elements(); first += part) {
      int count = 0;
      const int64_t end = std::min(first + part, in.elements());
      for (int64_t i = first; i < end; i++) count += is_foreground(i);
      counts.push_back(count);
      found += count;
    }
    if (found == 0) return -1;
    int64_t left = random.below(static_cast<unsigned>(found)), i = 0;
    for (size_t k = 0; left >= counts[k]; k++) left -= counts[k], i += part;
    while (!is_foreground(i) || left-- > 0) i++;
    return i;
  });
}

struct MaskPixel {
  static void shape(Sample<RandomMaskPixelArgs>& sample) {
    const int64_t elements = sample.in[0].elements();
    if (elements == 0 || elements > UINT32_MAX)
      refuse("expected a mask of 1 to 2^32 - 1 elements, got the shape ", sample.in[0].shape);
    sample.out[0].shape = {sample.in[0].ndim()};
  }
  static void run(const Sample<RandomMaskPixelArgs>& sample) {
    const SampleView& in = sample.in[0];
    RandomStream random(sample.random);
    int64_t index = sample.args.foreground ? draw_foreground(in, sample.args, random) : -1;
    if (index < 0) index = random.below(static_cast<unsigned>(in.elements()));
    for (int d = in.ndim() - 1; d >= 0; index /= in.shape[d--]) sample.out[0].as<int64_t>()[d] = index % in.shape[d];
  }
};

}  // namespace

AVIDA_OP_IN(segmentation, random_mask_pixel, RandomMaskPixelArgs) {
  using Args = RandomMaskPixelArgs;
  op.doc("Draws the position of a random element of a mask, or of its foreground.")
      .input("input", "The masks, of any rank.")
      .arg("foreground", &Args::foreground,
           "Whether to draw from the foreground; a mask without any is drawn from as a whole.")
      .arg("threshold", &Args::threshold, "Elements above it are foreground.")
      .arg("value", &Args::value, "Elements of this value are foreground; `threshold` has no effect then.")
      .example("avida.segmentation.random_mask_pixel(np.int32([[0, 0, 1], [0, 1, 1]]), foreground=1)")
      .random()
      .infer([](Infer<Args>& call) {
        call.out[0].dtype = DType::int64;
        call.out[0].ndim = 1;
        call.out[0].layout = {};
      })
      .on_cpu()
      .each_sample<MaskPixel>();
}

}  // namespace avida::ops
