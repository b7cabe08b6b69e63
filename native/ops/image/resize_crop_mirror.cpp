#include "ops/image/crop.h"
#include "ops/image/resize_args.h"

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

}  // namespace

AVIDA_OP(resize_crop_mirror, ResizeCropMirrorArgs) {
  using Args = ResizeCropMirrorArgs;
  op.doc("Resizes images, videos or volumes, cuts a window out of the result and mirrors it, all in one step.")
      .input("input", "The samples to resize.",
             {"HWC", "FHWC", "CHW", "FCHW", "CFHW", "DHWC", "FDHWC", "CDHW", "FCDHW", "CFDHW"})
      .arg("antialias", &Args::antialias, kAntialiasText, fixed)
      .arg("dtype", &Args::dtype, kResizeDTypeText)
      .arg("interp_type", &Args::interp_type, kInterpTypeText)
      .arg("mag_filter", &Args::mag_filter, kMagFilterText)
      .arg("max_size", &Args::max_size, kMaxSizeText, fixed)
      .arg("min_filter", &Args::min_filter, kMinFilterText)
      .arg("minibatch_size", &Args::minibatch_size, kMinibatchText, fixed)
      .arg("mirror", &Args::mirror,
           "Which axes to mirror, added up: 1 left to right, 2 top to bottom, 4 front to back.")
      .arg("mode", &Args::mode, kModeText)
      .arg("resize_longer", &Args::resize_longer, kResizeLongerText)
      .arg("resize_shorter", &Args::resize_shorter, kResizeShorterText)
      .arg("resize_x", &Args::resize_x, kResizeXText)
      .arg("resize_y", &Args::resize_y, kResizeYText)
      .arg("resize_z", &Args::resize_z, kResizeZText)
      .arg("roi_end", &Args::roi_end, kRoiEndText)
      .arg("roi_relative", &Args::roi_relative, kRoiRelativeText, fixed)
      .arg("roi_start", &Args::roi_start, kRoiStartText)
      .arg("size", &Args::size, kResizeSizeText)
      .arg("subpixel_scale", &Args::subpixel_scale, kSubpixelScaleText, fixed)
      .arg("temp_buffer_hint", &Args::temp_buffer_hint, kTempBufferText, fixed)
      .example("avida.resize_crop_mirror(image, size=[4, 6], crop=[2, 3], mirror=1)")
      .infer([](Infer<Args>& call) {
        infer_resize(call.args, call.args, call.call);
        check_image_size(call.args, call.call);
        check_crop_place(call.args, call.call);
      });
  crop_place_args(op);
  resamples<plan>(op);
}

}  // namespace avida::ops
