#include "operator/declare.h"
#include "ops/image/random_crop.h"

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

class WindowDraw {
 public:
  explicit WindowDraw(const Sample<RandomCropArgs>& sample) {
    const SampleView& in = sample.in[0];
    if (in.ndim() != 1 || (in.shape[0] != 2 && in.shape[0] != 3))
      refuse("expected 2 or 3 extents, HW or HWC, got an input of shape ", in.shape);
    int64_t extents[2];
    for (int i = 0; i < 2; i++) {
      extents[i] = arg::element<int64_t>(in.data, in.dtype, i);
      if (extents[i] < 0 || extents[i] > INT32_MAX)
        refuse("expected extents from 0 to ", INT32_MAX, ", got ", extents[i]);
    }
    RandomStream random(sample.random);
    box_ = draw_crop_box(random, extents[0], extents[1], sample.args);
  }
  void shape(Sample<RandomCropArgs>& sample) const { sample.out[0].shape = sample.out[1].shape = {2}; }
  void run(const Sample<RandomCropArgs>& sample) const {
    auto store = [](const SampleView& out, int64_t a, int64_t b) {
      out.as<int32_t>()[0] = static_cast<int32_t>(a);
      out.as<int32_t>()[1] = static_cast<int32_t>(b);
    };
    store(sample.out[0], box_.top, box_.left);
    store(sample.out[1], box_.height, box_.width);
  }

 private:
  CropBox box_;
};

}  // namespace

AVIDA_OP(random_crop_generator, RandomCropArgs) {
  op.doc(
        "Draws windows of random area, aspect ratio and position. Returns the start and the extents of a window "
        "for each image, whose own extents are the input.")
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
          refuse("expected signed integers, or unsigned ones of at most 32 bits, got ", name_of(call.in[0].dtype));
        call.out.resize(2, call.out[0]);
        for (Meta& out : call.out) {
          out.dtype = DType::int32;
          out.ndim = 1;
          out.layout = {};
        }
      })
      .on_cpu()
      .each_sample<WindowDraw>();
}

}  // namespace avida::ops
