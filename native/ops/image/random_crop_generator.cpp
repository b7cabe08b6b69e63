#include "op/op.h"
#include "op/random_crop.h"

namespace avida::ops {
namespace {

bool is_extent_type(DType dtype) {
  switch (dtype) {
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
      return true;
    default:
      return false;
  }
}

void check_shape(const Sample<RandomCropArgs>& sample) {
  const Shape& shape = sample.in[0].shape;
  if (shape.size() != 1 || (shape[0] != 2 && shape[0] != 3))
    fail(ErrorKind::runtime, "expected 2 or 3 extents, HW or HWC, got an input of shape ", shape);
}

}  // namespace

AVIDA_OP(random_crop_generator, RandomCropArgs) {
  op.doc("Draws a window of random area, aspect ratio and position for images of the given extents: start and extents.")
      .input("input", "The extents of each image, HW or HWC.")
      .arg("num_attempts", &RandomCropArgs::num_attempts, kNumAttemptsText, fixed)
      .arg("random_area", &RandomCropArgs::random_area, kRandomAreaText, fixed)
      .arg("random_aspect_ratio", &RandomCropArgs::random_aspect_ratio, kRandomAspectRatioText, fixed)
      .example("start, shape = avida.random_crop_generator([480, 640, 3])")
      .outputs(2)
      .random()
      .infer([](Infer<RandomCropArgs>& call) {
        check_random_crop(call.args);
        if (!is_extent_type(call.in[0].dtype))
          fail(ErrorKind::runtime, "expected signed integers, or unsigned ones of at most 32 bits, got ",
               name_of(call.in[0].dtype));
        call.out.resize(2, call.out[0]);
        for (Meta& out : call.out) {
          out.dtype = DType::int32;
          out.ndim = 1;
          out.layout = {};
        }
      })
      .each_sample(
          [](Sample<RandomCropArgs>& sample) {
            check_shape(sample);
            sample.out[0].shape = sample.out[1].shape = {2};
          },
          [](const Sample<RandomCropArgs>& sample) {
            int64_t extents[2];
            for (int i = 0; i < 2; i++) {
              extents[i] = arg::element<int64_t>(sample.in[0].data, sample.in[0].dtype, i);
              if (extents[i] < 0 || extents[i] > INT32_MAX)
                fail(ErrorKind::runtime, "expected extents from 0 to ", INT32_MAX, ", got ", extents[i]);
            }
            RandomStream random(sample.random);
            CropBox box = draw_crop_box(random, extents[0], extents[1], sample.args);
            sample.out[0].as<int32_t>()[0] = static_cast<int32_t>(box.top);
            sample.out[0].as<int32_t>()[1] = static_cast<int32_t>(box.left);
            sample.out[1].as<int32_t>()[0] = static_cast<int32_t>(box.height);
            sample.out[1].as<int32_t>()[1] = static_cast<int32_t>(box.width);
          });
}

}  // namespace avida::ops
