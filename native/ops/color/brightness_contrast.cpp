#include "loops/pixels/each_pixel.h"
#include "operator/declare.h"
#include "ops/color/color_matrix.h"

namespace avida::ops {
namespace {

struct BrightnessContrastArgs {
  float brightness = 1, brightness_shift = 0, contrast = 1;
  std::optional<float> contrast_center;
  DType dtype = DType::none;
};

// The largest number of an integer type; floats hold colours from 0 to 1.
double range_of(DType dtype) {
  if (is_float(dtype)) return 1;
  return std::ldexp(1.0, 8 * size_of(dtype) - is_signed(dtype)) - 1;
}
double middle_of(DType dtype) { return is_float(dtype) ? 0.5 : (range_of(dtype) + 1) / 2; }

Scaling scaling(const BrightnessContrastArgs& args, DType in, DType out) {
  float center = args.contrast_center ? *args.contrast_center : static_cast<float>(middle_of(in));
  float range = static_cast<float>(range_of(out));
  return {args.brightness * args.contrast,
          args.brightness_shift * range + args.brightness * (center - args.contrast * center)};
}

class ScalePlan {
 public:
  explicit ScalePlan(const Sample<BrightnessContrastArgs>& sample)
      : grid_(element_grid(sample.in[0])), by_(scaling(sample.args, sample.in[0].dtype, sample.out[0].dtype)) {}

  int64_t rows() const { return grid_.blocks(); }
  void run(const Sample<BrightnessContrastArgs>& sample) const { each_pixel<Scale>(sample, grid_, by_); }

 private:
  const PixelGrid grid_;
  const Scaling by_;
};

void image_loop(Op<BrightnessContrastArgs>& op) {
  using Args = BrightnessContrastArgs;
  op.input("input", "Images, videos or volumes.", {"FHWC", "DHWC", "HWC", "FCHW", "CDHW", "CHW"})
      .arg("dtype", &Args::dtype, "The element type of the output, by default that of the input.")
      .infer([](Infer<Args>& call) {
        if (call.args.dtype != DType::none) call.out[0].dtype = call.args.dtype;
        check_numbers(call.in[0].dtype, call.args.dtype);
      })
      .each_sample<ScalePlan>()
      .chains();
}

void brightness_args(Op<BrightnessContrastArgs>& op) {
  using Args = BrightnessContrastArgs;
  op.arg("brightness", &Args::brightness, "The factor of all elements.")
      .arg("brightness_shift", &Args::brightness_shift,
           "A number that is added last, in units of the largest value of an integer type.");
}

void contrast_args(Op<BrightnessContrastArgs>& op) {
  using Args = BrightnessContrastArgs;
  op.arg("contrast", &Args::contrast, "The factor of the distances from contrast_center.")
      .arg("contrast_center", &Args::contrast_center,
           "The value that stays unchanged; by default 0.5 for floats, and half of an integer type's range.");
}

}  // namespace

AVIDA_OP(brightness, BrightnessContrastArgs) {
  op.doc("Makes images brighter or darker: brightness * input + brightness_shift.")
      .example("avida.brightness(image, brightness=1.5)");
  brightness_args(op);
  image_loop(op);
}

AVIDA_OP(contrast, BrightnessContrastArgs) {
  op.doc("Changes the contrast of images. The output is contrast_center + contrast * (input - contrast_center).")
      .example("avida.contrast(image, contrast=0.5)");
  contrast_args(op);
  image_loop(op);
}

AVIDA_OP(brightness_contrast, BrightnessContrastArgs) {
  op.doc("Changes the contrast, then the brightness of images.")
      .example("avida.brightness_contrast(image, brightness=1.5, contrast=0.5)");
  brightness_args(op);
  contrast_args(op);
  image_loop(op);
}

}  // namespace avida::ops
