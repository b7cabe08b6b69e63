#include "ops/image/crop.h"
#include "ops/image/resize_args.h"
#include "ops/image/resize_moves.h"

namespace avida::ops {
namespace {

struct ResizeCropMirrorArgs : ImageSizeArgs, CropPlace {
  int mirror = 0;
};

// The window is cut out of the resized image: its part of the region is resampled, and nothing else.
std::vector<AxisPlan> plan(const Sample<ResizeCropMirrorArgs>& sample) {
  const SampleView& in = sample.in[0];
  auto plans = plan_image(in, sample.args);
  Window window = crop_window(sample.args, resized_shape(in.shape, plans), in.layout);
  for (AxisPlan& plan : plans) {
    if (plan.out == 0) continue;
    float step = (plan.end - plan.start) / static_cast<float>(plan.out), origin = plan.start;
    plan.start = origin + static_cast<float>(window.start[plan.axis]) * step;
    plan.end = origin + static_cast<float>(window.start[plan.axis] + window.size[plan.axis]) * step;
    plan.out = window.size[plan.axis];
    char name = in.layout[plan.axis];
    if (sample.args.mirror & (name == 'W' ? 1 : name == 'H' ? 2 : 4)) std::swap(plan.start, plan.end);
  }
  return plans;
}

Moves resize_moves(const Sample<ResizeCropMirrorArgs>& sample) { return moves_of(sample.in[0], plan(sample)); }

}  // namespace

AVIDA_OP(resize_crop_mirror, ResizeCropMirrorArgs) {
  using Args = ResizeCropMirrorArgs;
  op.doc("Resizes, crops and mirrors images, videos or volumes in one pass.")
      .input("input", "The samples to resize.",
             {"HWC", "FHWC", "CHW", "FCHW", "CFHW", "DHWC", "FDHWC", "CDHW", "FCDHW", "CFDHW"})
      .arg("mirror", &Args::mirror,
           "The axes to mirror, as a sum of 1 (left to right), 2 (top to bottom) and 4 (front to back).")
      .example("avida.resize_crop_mirror(image, size=[4, 6], crop=[2, 3], mirror=1)")
      .infer([](Infer<Args>& call) {
        infer_resize(call.args, call.args, call.call);
        check_image_size(call.args, call.call);
        check_crop_place(call.args, call.call);
      });
  image_size_args(op);
  crop_place_args(op);
  resamples<ResamplePlan<plan, ResizeCropMirrorArgs>>(op);
}

AVIDA_MOVES(resize_crop_mirror, ResizeCropMirrorArgs, resize_moves)

}  // namespace avida::ops
