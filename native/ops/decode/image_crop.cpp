#include "ops/decode/decode.h"
#include "ops/decode/window_roi.h"
#include "ops/image/crop.h"

namespace avida::ops {
namespace {

struct DecodeCropArgs : DecodeArgs, CropPlace {};

codecs::Roi cropped(const Sample<DecodeCropArgs>& sample, const codecs::Extents& image) {
  return window_roi(crop_window(sample.args, image_shape(image), "HWC"), image);
}

}  // namespace

AVIDA_OP_IN(decoders, image_crop, DecodeCropArgs) {
  op.doc(
        "Decodes only a window of given extents. The position of the window is a fraction of the space between the "
        "borders, as in `crop`.")
      .input("input", "The bytes of image files.")
      .example("avida.decoders.image_crop(np.frombuffer(b\"P5 3 1 255 abc\", np.uint8), crop=[1, 2])")
      .infer([](Infer<DecodeCropArgs>& call) {
        infer_decode(call.args, call.in, call.out[0]);
        check_crop_place(call.args, call.call);
      });
  crop_place_args(op);
  decodes<cropped, image_request>(op);
}

}  // namespace avida::ops
