#include "ops/decode/decode.h"
#include "ops/image/random_crop.h"

namespace avida::ops {
namespace {

struct DecodeRandomCropArgs : DecodeArgs, RandomCropArgs {};

codecs::Roi drawn(const Sample<DecodeRandomCropArgs>& sample, const codecs::Extents& image) {
  RandomStream random(sample.random);
  CropBox box = draw_crop_box(random, image.height, image.width, sample.args);
  return {static_cast<int>(box.top), static_cast<int>(box.left), static_cast<int>(box.height),
          static_cast<int>(box.width)};
}

}  // namespace

AVIDA_OP_IN(decoders, image_random_crop, DecodeRandomCropArgs) {
  op.doc("Decodes only a window of random area, aspect ratio and position.")
      .input("input", "The bytes of image files.")
      .arg("num_attempts", &DecodeRandomCropArgs::num_attempts, kNumAttemptsText, fixed)
      .arg("random_area", &DecodeRandomCropArgs::random_area, kRandomAreaText, fixed)
      .arg("random_aspect_ratio", &DecodeRandomCropArgs::random_aspect_ratio, kRandomAspectRatioText, fixed)
      .example("avida.decoders.image_random_crop(np.frombuffer(b\"P5 3 1 255 abc\", np.uint8))")
      .random()
      .infer([](Infer<DecodeRandomCropArgs>& call) {
        infer_decode(call.args, call.in, call.out[0]);
        check_random_crop(call.args);
      });
  decodes<drawn, image_request>(op);
}

}  // namespace avida::ops
