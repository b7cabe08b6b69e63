#include "ops/color/debayer.h"

#include "operator/declare.h"
#include "operator/launches.h"
#include "ops/color/debayer_rows.h"
#include "ops/color/vng_rows.h"
#include "ops/color/vng_tile.h"

namespace avida::ops {

AVIDA_CHOICES_WITH(Demosaic, kAnyCase, "bilinear_ocv", "edgeaware_ocv", "gray_ocv", "vng_ocv")

namespace {

struct DebayerArgs {
  Demosaic algorithm = Demosaic::bilinear;
  Vec<int> blue_position;
};

// One sample: frames of height by width pixels.
struct Debayering {
  const SampleView& in;
  Demosaic algorithm;
  BayerPattern pattern;
  int64_t height, width, channels;

  explicit Debayering(const Sample<DebayerArgs>& sample)
      : in(sample.in[0]), algorithm(sample.args.algorithm), channels(algorithm == Demosaic::gray ? 1 : 3) {
    const Vec<int>& blue = sample.args.blue_position;
    if (blue.size() != 2) refuse("expected 2 numbers in \"blue_position\", got ", blue.size());
    for (int at : blue)
      if (at != 0 && at != 1) refuse("expected 0 or 1 in \"blue_position\", got ", at);
    const int h = in.layout.find('F') + 1, c = in.layout.find('C');  // only frames may come before the rows
    height = in.shape[h], width = in.shape[h + 1];
    if (c >= 0 && in.shape[c] != 1) refuse("expected one channel, got ", in.shape[c]);
    if (width >= int64_t{1} << 31) refuse("expected a width below 2**31, got ", width);
    if (height % 2 || width % 2) refuse("expected an even height and width, got ", height, " x ", width);
    // The position of blue is counted from the second row and column.
    pattern = {(1 + blue[0]) % 2, (1 + blue[1]) % 2};
    constexpr int64_t kLeast = 8;  // smaller images have too few gradients
    if (algorithm == Demosaic::vng && (height < kLeast || width < kLeast)) algorithm = Demosaic::bilinear;
  }

  Shape shape() const {
    Shape shape = in.shape;
    if (in.layout.find('C') < 0) shape.push_back(1);
    shape[shape.size() - 1] = channels;
    return shape;
  }
  int64_t rows() const { return width == 0 ? 0 : in.elements() / width; }
  void run(const Sample<DebayerArgs>& sample) const {
    const bool bytes = in.dtype == DType::uint8;
    if (sample.launches)
      bytes ? launch<unsigned char>(sample) : launch<unsigned short>(sample);
    else if (algorithm == Demosaic::vng)
      make_rows_by_vng(sample);
    else
      bytes ? make_rows<uint8_t>(sample) : make_rows<uint16_t>(sample);
  }

 private:
  // The outermost rows and columns are copies of those beside them; where there are none, all is 0.
  template <class T>
  void make_rows(const Sample<DebayerArgs>& sample) const {
    for (int64_t i = sample.begin; i < sample.end; i++) {
      T* to = sample.out[0].as<T>() + i * width * channels;
      if (height <= 2 || width <= 2) {
        std::fill_n(to, width * channels, T(0));
        continue;
      }
      int64_t y = std::clamp<int64_t>(i % height, 1, height - 2);
      const T* row = in.as<T>() + (i - i % height + y) * width;
      debayer_row(
          to, {row - width, row, row + width, static_cast<int>(width), pattern.has_blue(y), pattern.green_column(y)},
          algorithm);
      std::copy_n(to + channels, channels, to);
      std::copy_n(to + (width - 2) * channels, channels, to + (width - 1) * channels);
    }
  }

  void make_rows_by_vng(const Sample<DebayerArgs>& sample) const {
    std::optional<VngRows> rows;
    for (int64_t i = sample.begin; i < sample.end; i++) {
      int64_t y = i % height;
      if (!rows || y == 0)
        rows.emplace(in.as<uint8_t>() + (i - y) * width, height, width, pattern.blue_row, pattern.blue_column);
      rows->make(sample.out[0].as<uint8_t>() + i * width * 3, y);
    }
  }

  template <class T>
  void launch(const Sample<DebayerArgs>& sample) const {
    if (in.elements() == 0) return;
    const SampleView& out = sample.out[0];
    const int64_t pixels = height * width, frames = in.elements() / pixels;
    if (algorithm == Demosaic::vng) {
      const VngTile::Params params{out.as<uint8_t>(), in.as<uint8_t>(), frames, height, width, pattern};
      const auto [all, down, across] = params.tiles().at;
      sample.launches->add<VngTile>(0, all * down * across, params);
      return;
    }
    using Body = Debayer<T>;
    for (int64_t frame = 0; frame < frames; frame++) {
      const typename Body::Params params{out.as<T>() + frame * pixels * channels,
                                         in.as<T>() + frame * pixels,
                                         height,
                                         static_cast<int>(width),
                                         pattern,
                                         algorithm};
      sample.launches->add<Body>(0, (params.quads() + Body::kThreads - 1) / Body::kThreads, params);
    }
  }
};

}  // namespace

AVIDA_OP(debayer, DebayerArgs) {
  using Args = DebayerArgs;
  op.doc("Makes colour images of raw images from a sensor with a Bayer filter.")
      .input("input", "Images or videos of one channel, uint8 or uint16, of even height and width.",
             {"HW", "HWC", "FHW", "FHWC"})
      .arg(
          "algorithm", &Args::algorithm,
          "\"bilinear_ocv\" (the default) takes the mean of the neighbours, \"edgeaware_ocv\" takes green along edges, "
          "\"vng_ocv\" (uint8 only) looks where least changes among eight directions, \"gray_ocv\" gives one channel "
          "of gray.")
      .arg(
          "blue_position", &Args::blue_position,
          "Row and column of blue, 0 or 1 each, in the square of four pixels that begins in the second row and column.",
          required)
      .example("avida.debayer(np.zeros((4, 6), np.uint8), blue_position=[0, 0])")
      .infer([](Infer<Args>& call) {
        DType dtype = call.in[0].dtype;
        if (dtype != DType::uint8 && dtype != DType::uint16) refuse("expected uint8 or uint16, got ", dtype);
        if (call.args.algorithm == Demosaic::vng && dtype != DType::uint8)
          refuse("expected uint8 for \"vng_ocv\", got ", dtype);
        Layout& layout = call.out[0].layout;
        if (layout.find('C') < 0) layout.push_back('C');
        call.out[0].ndim = layout.size();
      })
      .each_sample<Debayering>()
      .cost(2);
}

}  // namespace avida::ops
