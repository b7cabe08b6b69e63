#include "op/each_pixel.h"
#include "op/op.h"
#include "ops/color/color_matrix.h"

namespace avida::ops {
namespace {

enum ColorSpace { rgb, bgr, gray, ycbcr };  // under the numbers of the API

struct ColorSpaceConversionArgs {
  int image_type = 0, output_type = 0;
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
  if (to == gray) return {{{9798.0f / 32768, 19235.0f / 32768, 3735.0f / 32768}}};  // whole numbers give exact sums
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

bool only_swaps(const ColorSpaceConversionArgs& args) {
  return args.image_type + args.output_type == rgb + bgr && args.image_type != args.output_type;
}

template <int Out, int In>
void convert_colors(const Sample<ColorSpaceConversionArgs>& sample) {
  ColorMatrix<3, 3> whole = conversion(sample.args.image_type, sample.args.output_type);
  ColorMatrix<Out, In> matrix;
  for (int i = 0; i < Out; i++) {
    for (int k = 0; k < In; k++) matrix.factor[i][k] = whole.factor[i][k];
    matrix.addend[i] = whole.addend[i];
  }
  each_pixel<Recolor<Out, In>>(sample, pixel_grid(sample.in[0]), matrix);
}

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
        if (call.in[0].dtype != DType::uint8) fail(ErrorKind::runtime, "expected uint8, got ", call.in[0].dtype);
        for (int space : {call.args.image_type, call.args.output_type})
          if (space < rgb || space > ycbcr)
            fail(ErrorKind::runtime, "expected the colour spaces RGB, BGR, GRAY or YCbCr (0 to 3), got ", space);
      })
      .each_sample(
          [](Sample<Args>& sample) {
            int64_t found = pixel_grid(sample.in[0]).channels;
            int expected = channels_of(sample.args.image_type);
            if (found != expected) fail(ErrorKind::runtime, "expected ", expected, " channels, got ", found);
            Shape& shape = sample.out[0].shape = sample.in[0].shape;
            shape[sample.in[0].layout.find('C')] = channels_of(sample.args.output_type);
          },
          [](const Sample<Args>& sample) {
            PixelGrid grid = pixel_grid(sample.in[0]);
            if (only_swaps(sample.args) && !grid.planar() && !sample.launches) {
              int64_t first = sample.begin * kPixelBlock, last = std::min(sample.end * kPixelBlock, grid.outer);
              return swap_red_and_blue(sample.out[0].as<uint8_t>() + 3 * first, sample.in[0].as<uint8_t>() + 3 * first,
                                       last - first);
            }
            int in = channels_of(sample.args.image_type), out = channels_of(sample.args.output_type);
            if (in == 3 && out == 3) convert_colors<3, 3>(sample);
            if (in == 3 && out == 1) convert_colors<1, 3>(sample);
            if (in == 1 && out == 3) convert_colors<3, 1>(sample);
            if (in == 1 && out == 1) convert_colors<1, 1>(sample);
          })
      .rows([](const Sample<Args>& sample) { return pixel_grid(sample.in[0]).blocks(); })
      .on_gpu()
      .chains();
}

}  // namespace avida::ops
