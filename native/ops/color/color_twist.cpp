#include "codecs/codec.h"
#include "loops/pixels/each_pixel.h"
#include "operator/declare.h"
#include "ops/color/color_matrix.h"

namespace avida::ops {
namespace {

struct TwistArgs {
  float hue = 0, saturation = 1, brightness = 1, contrast = 1;
  DType dtype = DType::none;
};
struct HsvArgs : TwistArgs {
  HsvArgs() { dtype = DType::uint8; }
};

template <class Args>
class TwistPlan {
 public:
  explicit TwistPlan(const Sample<Args>& sample)
      : grid_(pixel_grid(sample.in[0])), matrix_(matrix(sample.args, is_float(sample.in[0].dtype) ? 0.5f : 128)) {
    if (grid_.channels != 3) refuse("expected the 3 channels of RGB, got ", grid_.channels);
  }

  int64_t rows() const { return grid_.blocks(); }
  void run(const Sample<Args>& sample) const { each_pixel<Recolor<3, 3>>(sample, grid_, matrix_); }

 private:
  static ColorMatrix<3, 3> matrix(const TwistArgs& args, float gray) {
    return twist_matrix(args.hue, args.saturation, args.brightness * args.contrast,
                        args.brightness * (gray - gray * args.contrast));
  }

  const PixelGrid grid_;
  const ColorMatrix<3, 3> matrix_;
};

template <class Args>
void rgb_loop(Op<Args>& op) {
  op.input("input", "Images, videos or volumes in RGB.", {"HWC", "FHWC", "DHWC", "CHW", "FCHW", "CDHW"})
      .infer([](Infer<Args>& call) {
        if (call.args.dtype != DType::none) call.out[0].dtype = call.args.dtype;
        check_numbers(call.in[0].dtype, call.args.dtype);
      })
      .template each_sample<TwistPlan<Args>>()
      .cost(2)
      .chains();
}

constexpr const char* kDTypeText = "The element type of the output, by default that of the input.";
constexpr const char* kHueText = "The angle in degrees by which the hue is rotated.";
constexpr const char* kSaturationText = "The factor of the saturation: 0 makes shades of gray.";

}  // namespace

AVIDA_OP(hue, TwistArgs) {
  op.doc("Rotates the hue of colours.")
      .arg("dtype", &TwistArgs::dtype, kDTypeText)
      .arg("hue", &TwistArgs::hue, kHueText)
      .ignored("image_type", codecs::ImageType::rgb)
      .example("avida.hue(image, hue=120)");
  rgb_loop(op);
}

AVIDA_OP(saturation, TwistArgs) {
  op.doc("Makes colours stronger or paler.")
      .arg("dtype", &TwistArgs::dtype, kDTypeText)
      .ignored("image_type", codecs::ImageType::rgb)
      .arg("saturation", &TwistArgs::saturation, kSaturationText)
      .example("avida.saturation(image, saturation=0.5)");
  rgb_loop(op);
}

AVIDA_OP(hsv, HsvArgs) {
  op.doc("Changes hue, saturation and value of colours. It is a linear function of red, green and blue.")
      .arg("dtype", &HsvArgs::dtype, "The element type of the output.")
      .arg("hue", &HsvArgs::hue, kHueText)
      .arg("saturation", &HsvArgs::saturation, kSaturationText)
      .arg("value", &HsvArgs::brightness, "The factor of the brightness.")
      .example("avida.hsv(image, hue=30, saturation=1.2, value=0.9)");
  rgb_loop(op);
}

AVIDA_OP(color_twist, TwistArgs) {
  op.doc("Changes hue and saturation, then contrast, then brightness of colours.")
      .arg("brightness", &TwistArgs::brightness, "The factor of all colours, applied last.")
      .arg("contrast", &TwistArgs::contrast, "The factor of the distances from a middle gray (128, or 0.5 for floats).")
      .arg("dtype", &TwistArgs::dtype, kDTypeText)
      .arg("hue", &TwistArgs::hue, kHueText)
      .ignored("image_type", codecs::ImageType::rgb)
      .arg("saturation", &TwistArgs::saturation, kSaturationText)
      .example("avida.color_twist(image, brightness=1.2, contrast=0.8, hue=20, saturation=1.5)");
  rgb_loop(op);
}

}  // namespace avida::ops
