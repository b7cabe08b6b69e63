#include "op/launches.h"
#include "op/strided_copy.h"
#include "ops/image/resize_args.h"

namespace avida::ops {
namespace {

struct ResizeArgs : ImageSizeArgs {
  int image_type = 0;
  bool save_attrs = false;
};

// How a sample is resized. The last plan is kept: the images of a batch often have the same size.
class Planned {
 public:
  static Planned& of(const Sample<ResizeArgs>& sample) {
    thread_local Planned last;
    if (!last.suits(sample)) last = Planned(sample);
    return last;
  }

  const std::vector<AxisPlan>& plans() const { return plans_; }
  const Resample& resample() {
    if (!resample_) resample_ = make_resample(in_, out_type_, plans_, args_);
    return *resample_;
  }

 private:
  Planned() = default;
  explicit Planned(const Sample<ResizeArgs>& sample)
      : in_(sample.in[0]), out_type_(sample.out[0].dtype), args_(sample.args), plans_(plan_image(in_, args_)) {}

  bool suits(const Sample<ResizeArgs>& sample) const {
    const SampleView& in = sample.in[0];
    return !plans_.empty() && in.shape == in_.shape && in.layout == in_.layout && in.dtype == in_.dtype &&
           sample.out[0].dtype == out_type_ && same_size(sample.args, args_);
  }

  SampleView in_;
  DType out_type_ = DType::none;
  ImageSizeArgs args_;
  std::vector<AxisPlan> plans_;
  std::optional<Resample> resample_;
};

void set_shapes(Sample<ResizeArgs>& sample) {
  auto& plans = Planned::of(sample).plans();
  sample.out[0].shape = resized_shape(sample.in[0].shape, plans);
  if (sample.args.save_attrs) sample.out[1].shape = {static_cast<int64_t>(plans.size())};
}

void resize_rows(const Sample<ResizeArgs>& sample) {
  Planned& planned = Planned::of(sample);
  planned.resample().run(sample, sample.out[0].data, sample.in[0].data);
  if (!sample.args.save_attrs || sample.begin > 0) return;
  auto& plans = planned.plans();
  int32_t extents[3];
  for (size_t i = 0; i < plans.size(); i++) extents[i] = static_cast<int32_t>(plans[i].in);
  const int64_t n = std::ssize(plans);
  StridedCopy(sizeof(int32_t), {n}, {1}).run(sample, sample.out[1].data, readable(sample.launches, extents, n));
}

}  // namespace

AVIDA_OP(resize, ResizeArgs) {
  op.doc("Resizes images, videos or volumes with a filter of choice.")
      .input("input", "The samples to resize.",
             {"HWC", "FHWC", "CHW", "FCHW", "CFHW", "DHWC", "FDHWC", "CDHW", "FCDHW", "CFDHW"})
      .arg("image_type", &ResizeArgs::image_type, "The colour space.", fixed | deprecated)
      .arg("save_attrs", &ResizeArgs::save_attrs, "Also return the spatial extents of the input.", fixed)
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
      })
      .each_sample(set_shapes, resize_rows)
      .rows([](const Sample<ResizeArgs>& sample) {
        return sample.launches ? 1 : std::max<int64_t>(1, Planned::of(sample).resample().rows());
      })
      .cost(4)
      .reads([](const Sample<ResizeArgs>& sample) {
        return read_part(sample.in[0], Planned::of(sample).plans(), sample.args);
      })
      .chains()
      .on_gpu();
  image_size_args(op);
}

}  // namespace avida::ops
