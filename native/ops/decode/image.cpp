#include "ops/decode/decode.h"

namespace avida::ops {
namespace {

struct DecodeImageArgs : DecodeArgs {
  Vec<int> reduce_to;
  bool cache_batch_copy = true, cache_debug = false;
  int cache_size = 0, cache_threshold = 0;
  std::string cache_type;
};

codecs::Roi whole(const Sample<DecodeImageArgs>&, const codecs::Extents& image) {
  return {0, 0, image.height, image.width};
}

codecs::ImageRequest request(const DecodeImageArgs& args) {
  codecs::ImageRequest request = image_request(args);
  const Vec<int>& least = args.reduce_to;
  if (least.size() > 2)
    fail(ErrorKind::runtime, "expected one number or two, (H, W), in \"reduce_to\", got ", least.size());
  for (int extent : least)
    if (extent < 0) fail(ErrorKind::runtime, "expected extents of 0 or more in \"reduce_to\", got ", extent);
  if (least.size() == 1) request.least_side = least[0];
  if (least.size() == 2) {
    request.least_height = least[0];
    request.least_width = least[1];
  }
  return request;
}

}  // namespace

AVIDA_OP_IN(decoders, image, DecodeImageArgs) {
  op.doc("Decodes images: JPEG, PNG, BMP, PNM, TIFF, WebP, JPEG 2000 and lossless JPEG.")
      .input("input", "The bytes of image files.")
      .arg("cache_batch_copy", &DecodeImageArgs::cache_batch_copy, kGpuOnlyText, fixed | deprecated)
      .arg("cache_debug", &DecodeImageArgs::cache_debug, kGpuOnlyText, fixed | deprecated)
      .arg("cache_size", &DecodeImageArgs::cache_size, kGpuOnlyText, fixed | deprecated)
      .arg("cache_threshold", &DecodeImageArgs::cache_threshold, kGpuOnlyText, fixed | deprecated)
      .arg("cache_type", &DecodeImageArgs::cache_type, kGpuOnlyText, fixed | deprecated)
      .arg("reduce_to", &DecodeImageArgs::reduce_to,
           "For images that will be made smaller anyway: the extents still needed, (H, W), or one number for the "
           "shorter side. JPEG images are then decoded in the smallest of the sizes 1/8, 2/8, ... that is not below "
           "it, which is faster; others come whole.")
      .example("avida.decoders.image(np.frombuffer(b\"P5 2 1 255 ab\", np.uint8), output_type=avida.types.GRAY)")
      .infer([](Infer<DecodeImageArgs>& call) { infer_decode(call.args, call.in, call.out[0]); });
  decodes<whole, request>(op);
}

}  // namespace avida::ops
