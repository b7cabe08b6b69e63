#include "codecs/codec.h"
#include "loops/moving/strided_move.h"
#include "operator/launches.h"
#include "ops/image/resize_args.h"

namespace avida::ops {
namespace {

struct ResizeArgs : ImageSizeArgs {
  bool save_attrs = false;
};

std::vector<AxisPlan> plan(const Sample<ResizeArgs>& sample) { return plan_image(sample.in[0], sample.args); }

class ResizePlan : public ResamplePlan<plan, ResizeArgs> {
 public:
  using ResamplePlan::ResamplePlan;

  void shape(Sample<ResizeArgs>& sample) const {
    sample.out[0].shape = ResamplePlan::shape();
    if (sample.out.size() > 1) sample.out[1].shape = {std::ssize(axes_)};
  }
  void run(const Sample<ResizeArgs>& sample) const {
    ResamplePlan::run(sample);
    if (!sample.args.save_attrs || sample.begin > 0) return;
    std::vector<int32_t> extents;
    for (const AxisPlan& axis : axes_) extents.push_back(static_cast<int32_t>(axis.in));
    StridedMove(sizeof(int32_t), {std::ssize(extents)}, {1}).run(sample, sample.out[1].data, readable(sample, extents));
  }
};

}  // namespace

AVIDA_OP(resize, ResizeArgs) {
  op.doc("Resizes images, videos or volumes.")
      .input("input", "The samples to resize.",
             {"HWC", "FHWC", "CHW", "FCHW", "CFHW", "DHWC", "FDHWC", "CDHW", "FCDHW", "CFDHW"})
      .ignored("image_type", codecs::ImageType::rgb)
      .arg("save_attrs", &ResizeArgs::save_attrs, "Whether to return the spatial extents of the input as well.",
           fixed | adds_output)
      .example("avida.resize(image, size=[2, 3])")
      .outputs_from([](const ResizeArgs& args) { return args.save_attrs ? 2 : 1; })
      .infer([](Infer<ResizeArgs>& call) {
        infer_resize(call.args, call.args, call.call);
        check_image_size(call.args, call.call);
        if (!call.args.save_attrs) return;
        call.out.resize(2, call.out[0]);
        call.out[1].dtype = DType::int32;
        call.out[1].ndim = 1;
        call.out[1].layout = {};
      });
  image_size_args(op);
  resamples<ResizePlan>(op);
}

}  // namespace avida::ops
