#include "ops/image/random_crop.h"
#include "ops/image/resize_args.h"

namespace avida::ops {
namespace {

struct RandomResizedCropArgs : FilterArgs, RandomCropArgs {
  std::vector<int64_t> size;
};

std::vector<AxisPlan> plan(const Sample<RandomResizedCropArgs>& sample) {
  const SampleView& in = sample.in[0];
  int rows = in.layout.find('H'), columns = in.layout.find('W');
  RandomStream random(sample.random);
  CropBox box = draw_crop_box(random, in.shape[rows], in.shape[columns], sample.args);
  auto part = [&](int axis, int64_t start, int64_t extent, int64_t size) {
    return AxisPlan{.axis = axis,
                    .in = in.shape[axis],
                    .start = static_cast<float>(start),
                    .end = static_cast<float>(start + extent),
                    .out = size};
  };
  const auto& size = sample.args.size;
  if (size.front() > 0 && size.back() > 0 && box.height == 0)
    refuse("cannot resize an empty image of shape ", in.shape);
  return {part(rows, box.top, box.height, size.front()), part(columns, box.left, box.width, size.back())};
}

}  // namespace

AVIDA_OP(random_resized_crop, RandomResizedCropArgs) {
  op.doc("Crops a window of random area, aspect ratio and position, and resizes it.")
      .input("input", "The images or videos; all frames of a video share one window.",
             {"HWC", "CHW", "FHWC", "FCHW", "CFHW"})
      .arg("num_attempts", &RandomResizedCropArgs::num_attempts, kNumAttemptsText, fixed)
      .arg("random_area", &RandomResizedCropArgs::random_area, kRandomAreaText, fixed)
      .arg("random_aspect_ratio", &RandomResizedCropArgs::random_aspect_ratio, kRandomAspectRatioText, fixed)
      .arg("size", &RandomResizedCropArgs::size, "The height and width of the output, or one number for both.",
           fixed | required)
      .example("avida.random_resized_crop(image, size=[2, 3])")
      .random()
      .infer([](Infer<RandomResizedCropArgs>& call) {
        infer_resize(call.args, {}, call.call);
        check_random_crop(call.args);
        const auto& size = call.args.size;
        if (size.empty() || size.size() > 2) refuse("expected one number or two in \"size\", got ", size.size());
        for (int64_t extent : size)
          if (extent < 0) refuse("expected sizes of 0 or more, got ", extent);
      });
  filter_args(op);
  resamples<ResamplePlan<plan, RandomResizedCropArgs>>(op);
}

}  // namespace avida::ops
