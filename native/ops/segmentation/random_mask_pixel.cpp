#include "op/op.h"

namespace avida::ops {
namespace {

struct RandomMaskPixelArgs {
  int foreground = 0;
  float threshold = 0;
  std::optional<int> value;
};

// Calls fn with a predicate that tells whether an element belongs to the foreground.
template <class Fn>
auto with_foreground(const SampleView& in, const RandomMaskPixelArgs& args, Fn fn) {
  return with_dtype(in.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    const T* mask = in.as<T>();
    return fn([&args, mask](int64_t i) {
      const auto number = static_cast<double>(typename ComputeType<T>::type(mask[i]));
      return args.value ? number == *args.value : number > args.threshold;
    });
  });
}

int64_t count_foreground(const SampleView& in, const RandomMaskPixelArgs& args) {
  return with_foreground(in, args, [&](auto is_foreground) {
    int64_t count = 0;
    for (int64_t i = 0; i < in.elements(); i++) count += is_foreground(i);
    return count;
  });
}

// The place of the n-th element of the foreground.
int64_t find_foreground(const SampleView& in, const RandomMaskPixelArgs& args, int64_t n) {
  return with_foreground(in, args, [&](auto is_foreground) {
    int64_t i = 0;
    while (!is_foreground(i) || n-- > 0) i++;
    return i;
  });
}

void run(const Sample<RandomMaskPixelArgs>& sample) {
  const SampleView& in = sample.in[0];
  const int64_t found = sample.args.foreground ? count_foreground(in, sample.args) : 0;
  RandomStream random(sample.random);
  const auto drawn = static_cast<int64_t>(random.below(static_cast<unsigned>(found ? found : in.elements())));
  int64_t place = found ? find_foreground(in, sample.args, drawn) : drawn;
  for (int d = in.ndim() - 1; d >= 0; place /= in.shape[d--]) sample.out[0].as<int64_t>()[d] = place % in.shape[d];
}

}  // namespace

AVIDA_OP_IN(segmentation, random_mask_pixel, RandomMaskPixelArgs) {
  using Args = RandomMaskPixelArgs;
  op.doc("Draws a place in a mask: anywhere, or in its foreground.")
      .input("input", "The masks, of any rank.")
      .arg("foreground", &Args::foreground, "Draw from the foreground; anywhere, where there is none.")
      .arg("threshold", &Args::threshold, "What is above it is foreground.")
      .arg("value", &Args::value, "What has this value is foreground; then `threshold` has no effect.")
      .example("avida.segmentation.random_mask_pixel(np.int32([[0, 0, 1], [0, 1, 1]]), foreground=1)")
      .random()
      .infer([](Infer<Args>& call) {
        call.out[0].dtype = DType::int64;
        call.out[0].ndim = 1;
        call.out[0].layout = {};
      })
      .each_sample(
          [](Sample<Args>& sample) {
            const int64_t elements = sample.in[0].elements();
            if (elements == 0 || elements > UINT32_MAX)
              fail(ErrorKind::runtime, "expected a mask of 1 to 2^32 - 1 elements, got the shape ", sample.in[0].shape);
            sample.out[0].shape = {sample.in[0].ndim()};
          },
          run);
}

}  // namespace avida::ops
