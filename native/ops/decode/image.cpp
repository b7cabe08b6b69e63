#include "ops/decode/decode.h"

namespace avida::ops {
namespace {

struct DecodeImageArgs : DecodeArgs {
  Vec<int> reduce_to;
};

codecs::Roi whole(const Sample<DecodeImageArgs>&, const codecs::Extents& image) {
  return {0, 0, image.height, image.width};
}

codecs::ImageRequest request(const DecodeImageArgs& args) {
  codecs::ImageRequest request = image_request(args);
  const Vec<int>& least = args.reduce_to;
  if (least.size() > 2) refuse("expected one number or two, (H, W), in \"reduce_to\", got ", least.size());
  for (int extent : least)
    if (extent < 0) refuse("expected extents of 0 or more in \"reduce_to\", got ", extent);
  if (least.size() == 1) request.least_side = least[0];
  if (least.size() == 2) {
    request.least_height = least[0];
    request.least_width = least[1];
  }
  return request;
}

}  // namespace

AVIDA_OP_IN(decoders, image, DecodeImageArgs) {
  op.doc(
        "Decodes images, in any of the formats that `avida info` lists. Of animations and files with several pages, "
        "the first image is decoded.")
      .input("input", "The bytes of image files.")
      .ignored("cache_batch_copy", true)
      .ignored("cache_debug", false)
      .ignored("cache_size", 0)
      .ignored("cache_threshold", 0)
      .ignored("cache_type", std::string())
      .arg("reduce_to", &DecodeImageArgs::reduce_to,
           "The least extents that are needed of images that will be downscaled: (H, W), or one number for the shorter "
           "side. Formats with reduced sizes, such as JPEG, are decoded at the smallest of the scales 1/8, 1/4, 3/8 "
           "and 1/2 that is not below it, which is faster. Where none of the scales suffices, and in other formats, "
           "images are decoded "
           "at full size.")
      .example("avida.decoders.image(np.frombuffer(b\"P5 2 1 255 ab\", np.uint8), output_type=avida.types.GRAY)")
      .infer([](Infer<DecodeImageArgs>& call) { infer_decode(call.args, call.in, call.out[0]); });
  decodes<whole, request>(op);
}

}  // namespace avida::ops
