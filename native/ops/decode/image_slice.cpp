#include "ops/decode/decode.h"
#include "ops/decode/window_roi.h"
#include "ops/generic/slice.h"

namespace avida::ops {
namespace {

struct DecodeSliceArgs : DecodeArgs, SlicePlace {};

codecs::Roi sliced(const Sample<DecodeSliceArgs>& sample, const codecs::Extents& image) {
  return window_roi(slice_window(sample.args, sample.in[1], sample.in[2], image_shape(image), "HWC"), image);
}

}  // namespace

AVIDA_OP_IN(decoders, image_slice, DecodeSliceArgs) {
  op.doc("Decodes only a window given by absolute or relative coordinates.")
      .input("data", "The bytes of image files.")
      .example("avida.decoders.image_slice(np.frombuffer(b\"P5 3 1 255 abc\", np.uint8), start=[1, 0], shape=[2, 1])")
      .infer([](Infer<DecodeSliceArgs>& call) {
        infer_decode(call.args, call.in, call.out[0]);
        check_slice_place(call.args, call.call, 3, "HWC");
      });
  slice_place_args(op);
  decodes<sliced, image_request>(op);
}

}  // namespace avida::ops
