// `augment.channel_dropout`, `augment.channel_shuffle`.
#include "ops/augment/channels.h"

#include <numeric>

#include "loops/items/each_item.h"
#include "loops/moving/convert_run.h"
#include "loops/pixels/each_pixel.h"
#include "operator/declare.h"
#include "ops/color/color_matrix.h"

namespace avida::ops {
namespace {

struct ShuffleArgs {
  std::vector<int> order;
};
struct DropChannelsArgs {
  int channels = 1;
  float fill_value = 0;
};

float fill_of(const ShuffleArgs&) { return 0; }
float fill_of(const DropChannelsArgs& args) { return args.fill_value; }

// Numbers from 0 on, the first `count` of which are drawn at random.
std::vector<int> shuffled(int64_t channels, int64_t count, RandomStream random) {
  std::vector<int> order(channels);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = 0; i < std::min(count, channels - 1); i++)
    std::swap(order[i], order[i + random.below(static_cast<unsigned>(channels - i))]);
  return order;
}

std::vector<int> sources(const Sample<ShuffleArgs>& sample, int64_t channels) {
  std::vector<int> given = sample.args.order;
  if (given.empty()) return shuffled(channels, channels, RandomStream(sample.random));
  for (int from : given)
    if (from < 0 || from >= channels) refuse("expected channels from 0 to ", channels - 1, " in \"order\", got ", from);
  if (std::ssize(given) != channels) refuse("expected ", channels, " numbers in \"order\", got ", given.size());
  return given;
}
std::vector<int> sources(const Sample<DropChannelsArgs>& sample, int64_t channels) {
  const int count = sample.args.channels;
  if (count < 0 || count > channels) refuse("expected from 0 to ", channels, " channels to drop, got ", count);
  const std::vector<int> order = shuffled(channels, count, RandomStream(sample.random));
  std::vector<int> from(channels);
  std::iota(from.begin(), from.end(), 0);
  for (int i = 0; i < count; i++) from[order[i]] = -1;
  return from;
}

template <class Args>
class ChannelsPlan {
 public:
  explicit ChannelsPlan(const Sample<Args>& sample)
      : in_(sample.in[0]), grid_(pixel_grid(in_)), from_(sources(sample, grid_.channels)), fill_(fill_of(sample.args)) {
    for (int c = 0; c < 3 && pixels_of_bytes(); c++) {
      for (int k = 0; k < 3; k++) matrix_.factor[c][k] = from_[c] == k ? 1.0f : 0.0f;
      matrix_.addend[c] = from_[c] < 0 ? fill_ : 0;
    }
  }

  Shape shape() const { return in_.shape; }
  int64_t rows() const { return grid_.blocks(); }
  void run(const Sample<Args>& sample) const {
    if (pixels_of_bytes()) return each_pixel<Recolor<3, 3>>(sample, grid_, matrix_);
    with_size_of(in_.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      T fill;
      rounding_run(in_.dtype, DType::float32)(&fill, &fill_, 1);
      const int64_t n = in_.elements(), first = n / std::max<int64_t>(rows(), 1) * sample.begin,
                    end = sample.end == rows() ? n : n / rows() * sample.end;
      each_item<PickChannel<T>>(
          sample, first, end,
          {sample.out[0].template as<T>(), in_.as<T>(), readable(sample, from_), grid_.channels, grid_.inner, fill});
    });
  }

 private:
  // Which vectors make many at a time.
  bool pixels_of_bytes() const { return in_.dtype == DType::uint8 && grid_.channels == 3; }

  const SampleView& in_;
  const PixelGrid grid_;
  const std::vector<int> from_;
  const float fill_;
  ColorMatrix<3, 3> matrix_;
};

template <class Args>
void channel_loop(Op<Args>& op) {
  op.input("input", "Images or videos, with any number of channels.", {"HWC", "CHW", "FHWC", "FCHW"})
      .random()
      .template each_sample<ChannelsPlan<Args>>();
}

}  // namespace

AVIDA_OP_IN(augment, channel_dropout, DropChannelsArgs) {
  using Args = DropChannelsArgs;
  op.doc("Fills random channels with a number.")
      .arg("channels", &Args::channels, "How many channels.")
      .arg("fill_value", &Args::fill_value, "What they are filled with.", takes_nan)
      .example("avida.augment.channel_dropout(image)");
  channel_loop(op);
}

AVIDA_OP_IN(augment, channel_shuffle, ShuffleArgs) {
  op.doc("Puts channels into random order.")
      .arg("order", &ShuffleArgs::order, "For each channel the one that it is taken from, instead of a random order.")
      .example("avida.augment.channel_shuffle(image, [2, 0, 1])");
  channel_loop(op);
}

}  // namespace avida::ops
