#include "codecs/jpeg_distortion.h"
#include "op/op.h"

namespace avida::ops {
namespace {

struct JpegDistortionArgs {
  int quality = 50;
};

void set_shape(Sample<JpegDistortionArgs>& sample) {
  const Shape& shape = sample.in[0].shape;
  const int64_t channels = shape[shape.size() - 1];
  if (channels != 3 && channels != 1)
    fail(ErrorKind::runtime, "expected 3 channels, or 1 for gray, got the shape ", shape);
  sample.out[0].shape = shape;
}

}  // namespace

AVIDA_OP(jpeg_compression_distortion, JpegDistortionArgs) {
  using Args = JpegDistortionArgs;
  op.doc("Gives images what they would lose as JPEG files: encodes and decodes them.")
      .input("input", "Images or videos, RGB or gray, of uint8.", {"HWC", "FHWC"})
      .arg("quality", &Args::quality, "From 1, much loss, to 100, little.")
      .example("avida.jpeg_compression_distortion(image, quality=10)")
      .infer([](Infer<Args>& call) {
        if (call.in[0].dtype != DType::uint8)
          fail(ErrorKind::runtime, "expected images of uint8, got ", call.in[0].dtype);
      })
      .each_sample(set_shape,
                   [](const Sample<Args>& sample) {
                     const Shape& shape = sample.in[0].shape;
                     const int first = shape.size() - 3;
                     const codecs::JpegPixels pixels{static_cast<int>(shape[first]), static_cast<int>(shape[first + 1]),
                                                     static_cast<int>(shape[first + 2])};
                     const int64_t size = shape[first] * shape[first + 1] * shape[first + 2];
                     if (size == 0) return;
                     for (int64_t frame = sample.begin; frame < sample.end; frame++)
                       codecs::distort_by_jpeg(sample.in[0].as<uint8_t>() + frame * size,
                                               sample.out[0].as<uint8_t>() + frame * size, pixels, sample.args.quality);
                   })
      .rows([](const Sample<Args>& sample) {
        return sample.in[0].shape.size() == 4 ? sample.in[0].shape[0] : int64_t{1};
      })
      .cost(30);
}

}  // namespace avida::ops
