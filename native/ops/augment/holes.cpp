// `augment.coarse_dropout`, `augment.spec_augment`.
#include "ops/augment/holes.h"

#include "core/clones.h"
#include "core/rows.h"
#include "loops/items/each_item.h"
#include "loops/moving/convert_run.h"
#include "ops/augment/colors.h"
#include "ops/random/tiles.h"

namespace avida::ops {
namespace {

struct DropoutArgs {
  std::vector<float> fill_value = {0};
  Vec<float> height;
  Vec<int> holes;
  bool noise = false;
  Vec<float> width;
};
struct SpecAugmentArgs {
  std::vector<float> fill_value = {0};
  int freq_masks = 2, freq_width = 27, time_masks = 2;
  float time_share = 1;
  int time_width = 100;
};

// A number between two, both of which occur where they are integers.
template <class T>
T drawn_between(const char* name, const Vec<T>& given, T low, T high, RandomStream& random) {
  if (given.size() > 2) refuse("expected one number or two as ", name, ", got ", given.size());
  if (!given.empty()) low = given[0], high = given[given.size() - 1];
  if (!(low >= 0 && low <= high))
    refuse("expected the least before the largest as ", name, ", both of at least 0, got ", low, " and ", high);
  const double share = static_cast<double>(random.next()) * 0x1p-32, width = static_cast<double>(high - low);
  if constexpr (std::is_integral_v<T>) return low + static_cast<T>(share * (width + 1));
  return static_cast<T>(low + share * width);
}

// Of `extent`, `size` elements at a random place.
std::pair<int, int> placed(int64_t extent, int64_t size, RandomStream& random) {
  size = std::clamp<int64_t>(size, 0, extent);
  const auto begin = static_cast<int>(random.below(static_cast<unsigned>(extent - size + 1)));
  return {begin, begin + static_cast<int>(size)};
}

constexpr char kRowsOf[] = "HW", kSpectrumOf[] = "ft";  // the axes that holes have

std::vector<Hole> holes_of(const Sample<DropoutArgs>& sample, int64_t rows, int64_t columns) {
  const DropoutArgs& args = sample.args;
  RandomStream random(sample.random);
  std::vector<Hole> holes(static_cast<size_t>(drawn_between("holes", args.holes, 8, 8, random)));
  for (Hole& hole : holes) {
    const float height = drawn_between("height", args.height, 0.1f, 0.2f, random),
                width = drawn_between("width", args.width, 0.1f, 0.2f, random);
    if (height > 1 || width > 1) refuse("expected shares of the extents up to 1, got ", height, " and ", width);
    std::tie(hole.top, hole.bottom) = placed(rows, std::llround(height * static_cast<float>(rows)), random);
    std::tie(hole.left, hole.right) = placed(columns, std::llround(width * static_cast<float>(columns)), random);
  }
  return holes;
}

std::vector<Hole> holes_of(const Sample<SpecAugmentArgs>& sample, int64_t bands, int64_t frames) {
  const SpecAugmentArgs& args = sample.args;
  for (int number : {args.freq_masks, args.freq_width, args.time_masks, args.time_width})
    if (number < 0) refuse("expected numbers of masks and widths of at least 0, got ", number);
  if (!(args.time_share >= 0 && args.time_share <= 1))
    refuse("expected a time_share from 0 to 1, got ", args.time_share);
  RandomStream random(sample.random);
  std::vector<Hole> holes;
  for (int i = 0; i < args.freq_masks; i++) {
    const auto [top, bottom] = placed(bands, random.below(static_cast<unsigned>(args.freq_width) + 1), random);
    holes.push_back({top, bottom, 0, static_cast<int>(frames)});
  }
  const auto most =
      std::min<int64_t>(args.time_width, static_cast<int64_t>(args.time_share * static_cast<float>(frames)));
  for (int i = 0; i < args.time_masks; i++) {
    const auto [left, right] = placed(frames, random.below(static_cast<unsigned>(most) + 1), random);
    holes.push_back({0, static_cast<int>(bands), left, right});
  }
  return holes;
}

// What Params::fill makes of noise, for the elements [begin, end): a tile of blocks after the other.
template <class T>
AVIDA_TEMPLATE_CLONES static void make_noise(T* out, int64_t begin, int64_t end, const RandomKey& key, float range) {
  constexpr int64_t per_tile = 4 * kLanes;
  for (int64_t first = begin / per_tile * per_tile; first < end; first += per_tile) {
    const PhiloxTile tile(key, kFirstNoiseBlock / kLanes + first / per_tile);
    T made[per_tile];
    for (int lane = 0; lane < kLanes; lane++)
      for (int k = 0; k < 4; k++) made[4 * lane + k] = noise_of<T>(tile.word[k][lane], range);
    const int64_t from = std::max(begin, first), to = std::min(end, first + per_tile);
    std::copy(made + (from - first), made + (to - first), out + from);
  }
}

template <class Args>
class HolesPlan {
 public:
  explicit HolesPlan(const Sample<Args>& sample) : in_(sample.in[0]) {
    constexpr bool is_spectrum = std::is_same_v<Args, SpecAugmentArgs>;
    const char* axes = is_spectrum ? kSpectrumOf : kRowsOf;
    int row = in_.layout.find(axes[0]), column = in_.layout.find(axes[1]);
    const bool turned = row > column;
    for (int64_t extent : in_.shape)
      if (extent >> 31) refuse("expected extents below 2^31, got the shape ", in_.shape);
    holes_ = holes_of(sample, in_.shape[row], in_.shape[column]);
    if (turned) {
      std::swap(row, column);
      for (Hole& hole : holes_) hole = {hole.left, hole.right, hole.top, hole.bottom};
    }
    height_ = in_.shape[row], width_ = in_.shape[column];
    for (int d = column + 1; d < in_.ndim(); d++) inner_ *= in_.shape[d];
    const int c = in_.layout.find('C');
    const int64_t channels = c < 0 ? 1 : in_.shape[c], fills = std::ssize(sample.args.fill_value);
    if (fills != 1 && fills != channels) refuse("expected one number or ", channels, " in \"fill_value\", got ", fills);
    channel_step_ = c < row ? height_ * width_ * inner_ : 1;
  }

  Shape shape() const { return in_.shape; }
  int64_t rows() const { return width_ * inner_ > 0 ? in_.elements() / (width_ * inner_) : 0; }
  void run(const Sample<Args>& sample) const {
    with_dtype(in_.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      if constexpr (same_type<T, uint8_t> || same_type<T, uint16_t> || (TypeTraits<T>::is_float && sizeof(T) < 8))
        fill<T>(sample);
    });
  }

 private:
  template <class T>
  void fill(const Sample<Args>& sample) const {
    std::vector<T> fills(sample.args.fill_value.size());
    rounding_run(in_.dtype, DType::float32)(fills.data(), sample.args.fill_value.data(), std::ssize(fills));
    bool noise = false;
    if constexpr (requires { sample.args.noise; }) noise = sample.args.noise;
    const typename Holes<T>::Params params{sample.out[0].template as<T>(),
                                           in_.as<T>(),
                                           readable(sample, holes_),
                                           readable(sample, fills),
                                           static_cast<int>(holes_.size()),
                                           static_cast<int>(fills.size()),
                                           channel_step_,
                                           height_,
                                           width_,
                                           inner_,
                                           noise,
                                           range_of_colors(in_.dtype),
                                           sample.random};
    const int64_t row = width_ * inner_;
    each_item<Holes<T>>(sample, sample.begin * row, sample.end * row, params,
                        [&] { fill_rows<T>(params, sample.begin, sample.end); });
  }

  template <class T>
  static void fill_rows(const typename Holes<T>::Params& params, int64_t begin, int64_t end) {
    const int64_t row = params.width * params.inner;
    store_row(params.out + begin * row, params.in + begin * row, (end - begin) * row * static_cast<int64_t>(sizeof(T)));
    std::vector<T> filled(params.noise ? 0 : row);  // a row of nothing but holes
    for (int64_t line = begin; line < end; line++) {
      if (!params.noise && (line == begin || line % params.height == 0))  // planes may differ
        for (int64_t i = 0; i < row; i++) filled[i] = params.fill(line * row + i);
      for (int k = 0; k < params.hole_count; k++) {
        const Hole& hole = params.holes[k];
        if (line % params.height < hole.top || line % params.height >= hole.bottom) continue;
        const int64_t left = hole.left * params.inner, right = hole.right * params.inner;
        if (params.noise)
          make_noise(params.out, line * row + left, line * row + right, params.key, params.range);
        else
          std::copy(filled.begin() + left, filled.begin() + right, params.out + line * row + left);
      }
    }
  }

  const SampleView& in_;
  std::vector<Hole> holes_;
  int64_t height_, width_, inner_ = 1, channel_step_;
};

}  // namespace

AVIDA_OP_IN(augment, coarse_dropout, DropoutArgs) {
  using Args = DropoutArgs;
  op.doc("Fills some rectangles of images, at random places.")
      .input("input", "Images or videos of uint8, uint16 or floats; all frames have the same holes.",
             {"HW", "HWC", "CHW", "FHWC", "FCHW"})
      .arg("fill_value", &Args::fill_value, "One number, or one for each channel.", takes_nan)
      .arg("height", &Args::height,
           "The height of holes as a share of the image's, or the least and the largest. Default: 0.1 to 0.2.")
      .arg("holes", &Args::holes, "How many holes, or the least and the largest number. Default: 8.")
      .arg("noise", &Args::noise, "Fills with uniform noise instead.")
      .arg("width", &Args::width, "The width of holes, like their height.")
      .random()
      .infer([](Infer<Args>& call) { check_colors(call.in[0].dtype); })
      .example("avida.augment.coarse_dropout(image, holes=[2, 4])")
      .template each_sample<HolesPlan<Args>>();
}

AVIDA_OP_IN(augment, spec_augment, SpecAugmentArgs) {
  using Args = SpecAugmentArgs;
  op.doc(
        "Masks random bands and times of spectrograms. This is SpecAugment (Park et al., 2019). The width of each mask "
        "is "
        "drawn from 0 to the largest.")
      .input("input", "Spectrograms of floats.", {"ft", "tf", "Cft", "Ctf"})
      .arg("fill_value", &Args::fill_value, "What masks are filled with.", takes_nan)
      .arg("freq_masks", &Args::freq_masks, "How many masks of frequencies.")
      .arg("freq_width", &Args::freq_width, "The largest number of bands of a mask.")
      .arg("time_masks", &Args::time_masks, "How many masks of times.")
      .arg("time_share", &Args::time_share, "The largest share of the times that a mask may have.")
      .arg("time_width", &Args::time_width, "The largest number of times of a mask.")
      .random()
      .infer([](Infer<Args>& call) { check_colors(call.in[0].dtype); })
      .example(
          "spectrum = np.ones((40, 100), np.float32)\n"
          "avida.augment.spec_augment(spectrum, freq_width=10, time_width=20).shape")
      .template each_sample<HolesPlan<Args>>();
}

}  // namespace avida::ops
