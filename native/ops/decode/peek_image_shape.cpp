#include "ops/decode/decode.h"

namespace avida::ops {
namespace {

struct PeekArgs {
  bool adjust_orientation = true;
  DType dtype = DType::int64;
  codecs::ImageType image_type = codecs::ImageType::rgb;
};

struct PeekPlan {
  Shape shape() const { return {3}; }
  void run(const Sample<PeekArgs>& sample) const {
    codecs::ImageRequest request;
    request.type = sample.args.image_type;
    request.adjust_orientation = sample.args.adjust_orientation;
    codecs::Extents image = codecs::EncodedImage(encoded_bytes(sample.in[0]), request).extents();
    const int extents[] = {image.height, image.width, image.channels};
    with_dtype(sample.args.dtype, [&](auto type) {
      using T = typename decltype(type)::type;
      for (int i = 0; i < 3; i++) sample.out[0].as<T>()[i] = convert<T>(extents[i]);
    });
  }
};

}  // namespace

AVIDA_OP(peek_image_shape, PeekArgs) {
  op.doc("Returns the shape (H, W, C) of images once decoded, from their headers alone.")
      .input("input", "The bytes of image files.")
      .arg("adjust_orientation", &PeekArgs::adjust_orientation,
           "Whether to return the shape after the EXIF orientation is applied.", fixed)
      .arg("dtype", &PeekArgs::dtype, "The element type of the result.")
      .arg("image_type", &PeekArgs::image_type, "The colours to which the image will be decoded.", fixed)
      .example("avida.peek_image_shape(np.frombuffer(b\"P5 2 1 255 ab\", np.uint8))")
      .takes_files()
      .infer([](Infer<PeekArgs>& call) {
        check_encoded(call.in[0]);
        call.out[0].dtype = call.args.dtype;
        call.out[0].ndim = 1;
        call.out[0].layout = {};
      })
      .on_cpu()
      .each_sample<PeekPlan>();
}

}  // namespace avida::ops
