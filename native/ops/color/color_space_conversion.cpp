#include "loops/pixels/each_pixel.h"
#include "operator/declare.h"
#include "ops/color/color_matrix.h"
#include "ops/color/gray_rows.h"

namespace avida::ops {
namespace {

enum ColorSpace { rgb, bgr, gray, ycbcr };  // under the numbers of the API
AVIDA_CHOICES_WITH(ColorSpace, kImageType, "rgb", "bgr", "gray", "ycbcr")

struct ColorSpaceConversionArgs {
  ColorSpace image_type = rgb, output_type = rgb;
};

int channels_of(int space) { return space == gray ? 1 : 3; }

// From one space into another; gray has the first row or column. Bytes are expected: YCbCr has Y from 16 to 235, and
// neutral colours at 128 (ITU-R BT.601).
ColorMatrix<3, 3> conversion(int from, int to) {
  if (from == to) return {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  if (from == bgr || to == bgr) {
    ColorMatrix<3, 3> matrix = conversion(from == bgr ? rgb : from, to == bgr ? rgb : to);
    for (auto& row : matrix.factor)
      if (from == bgr) std::swap(row[0], row[2]);
    if (to == bgr) {
      std::swap(matrix.factor[0], matrix.factor[2]);
      std::swap(matrix.addend[0], matrix.addend[2]);
    }
    return matrix;
  }
  constexpr float wide = 255.0f / 219, narrow = 219.0f / 255;
  if (from == gray && to == rgb) return {{{1}, {1}, {1}}};
  if (from == gray) return {{{narrow}}, {16, 128, 128}};
  if (from == ycbcr && to == gray) return {{{wide}}, {-16 * wide}};
  if (to == gray) {
    constexpr float unit = 1.0f / (1 << kGrayBits);
    return {{{kGrayWeights[0] * unit, kGrayWeights[1] * unit, kGrayWeights[2] * unit}}};
  }
  if (to == ycbcr)
    return {{{0.25678824f, 0.50412941f, 0.09790588f},
             {-0.14822290f, -0.29099279f, 0.43921569f},
             {0.43921569f, -0.36778831f, -0.07142737f}},
            {16, 128, 128}};
  constexpr float red = 1.596026786f, green_b = -0.391762290f, green_r = -0.812967647f, blue = 2.017232143f;
  return {{{wide, 0, red}, {wide, green_b, green_r}, {wide, blue, 0}},
          {-16 * wide - 128 * red, -16 * wide - 128 * (green_b + green_r), -16 * wide - 128 * blue}};
}

// RGB to BGR and back only moves bytes.
AVIDA_CLONES void swap_red_and_blue(uint8_t* __restrict out, const uint8_t* __restrict in, int64_t pixels) {
  for (int64_t i = 0; i < pixels; i++) {
    uint8_t first = in[3 * i], second = in[3 * i + 1], third = in[3 * i + 2];
    out[3 * i] = third;
    out[3 * i + 1] = second;
    out[3 * i + 2] = first;
  }
}

struct ColorConversion {
  const SampleView& in;
  const int from, to;
  const PixelGrid grid;

  explicit ColorConversion(const Sample<ColorSpaceConversionArgs>& sample)
      : in(sample.in[0]), from(sample.args.image_type), to(sample.args.output_type), grid(pixel_grid(in)) {
    if (grid.channels != channels_of(from)) refuse("expected ", channels_of(from), " channels, got ", grid.channels);
  }

  Shape shape() const {
    Shape shape = in.shape;
    shape[in.layout.find('C')] = channels_of(to);
    return shape;
  }
  int64_t rows() const { return grid.blocks(); }
  void run(const Sample<ColorSpaceConversionArgs>& sample) const {
    const ColorMatrix<3, 3> matrix = conversion(from, to);
    if (from + to == rgb + bgr && from != to) return each_pixel<Recolor<3, 3>>(sample, grid, matrix, swap_red_and_blue);
    auto recolor = [&]<int Out, int In>(const auto&... host_loop) {
      ColorMatrix<Out, In> part;
      for (int i = 0; i < Out; i++) {
        for (int k = 0; k < In; k++) part.factor[i][k] = matrix.factor[i][k];
        part.addend[i] = matrix.addend[i];
      }
      each_pixel<Recolor<Out, In>>(sample, grid, part, host_loop...);
    };
    if (to == gray && (from == rgb || from == bgr))
      recolor.operator()<1, 3>(from == rgb ? gray_of_rgb : gray_of_bgr);
    else if (channels_of(from) == 3)
      channels_of(to) == 3 ? recolor.operator()<3, 3>() : recolor.operator()<1, 3>();
    else
      channels_of(to) == 3 ? recolor.operator()<3, 1>() : recolor.operator()<1, 1>();
  }
};

}  // namespace

AVIDA_OP(color_space_conversion, ColorSpaceConversionArgs) {
  using Args = ColorSpaceConversionArgs;
  op.doc("Converts images between the colour spaces RGB, BGR, GRAY and YCbCr.")
      .input("input", "Images, videos or volumes of bytes.",
             {"FDHWC", "FHWC", "DHWC", "HWC", "FCDHW", "FCHW", "CDHW", "CHW"})
      .arg("image_type", &Args::image_type, "The colour space of the input.", fixed | required)
      .arg("output_type", &Args::output_type, "The colour space of the output.", fixed | required)
      .example("avida.color_space_conversion(image, image_type=avida.types.RGB, output_type=avida.types.GRAY)")
      .infer([](Infer<Args>& call) {
        if (call.in[0].dtype != DType::uint8) refuse("expected uint8, got ", call.in[0].dtype);
      })
      .each_sample<ColorConversion>()
      .chains();
}

}  // namespace avida::ops
