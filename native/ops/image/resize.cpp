#include <cmath>

#include "codecs/codec.h"
#include "loops/moving/strided_move.h"
#include "operator/launches.h"
#include "ops/image/resize_args.h"
#include "ops/image/resize_moves.h"

namespace avida::ops {
namespace {

// Whose arithmetic makes a whole number of the longer side.
enum class SideRounding { round, torchvision, detr, transformers };
AVIDA_CHOICES(SideRounding, "round", "torchvision", "detr", "transformers")

struct ResizeArgs : ImageSizeArgs {
  bool save_attrs = false;
  SideRounding size_rounding = SideRounding::round;
};

struct Sides {
  int64_t shorter, longer;
};

// The sides of a resized image, in the arithmetic of Python: numbers are doubles, int() drops fractions, and round()
// rounds halves to even. `limit` is 0 where there is none.
Sides resized_sides(SideRounding rounding, Sides in, int64_t size, int64_t limit) {
  const auto shorter = static_cast<double>(in.shorter), longer = static_cast<double>(in.longer);
  auto whole = [](double number) { return static_cast<int64_t>(number); };
  if (rounding == SideRounding::torchvision) {
    const int64_t other = whole(static_cast<double>(size * in.longer) / shorter);
    if (limit == 0 || other <= limit) return {size, other};
    return {whole(static_cast<double>(limit * size) / static_cast<double>(other)), limit};
  }
  auto asked = static_cast<double>(size);
  const bool limited = limit > 0 && longer / shorter * asked > static_cast<double>(limit);
  if (limited) {
    asked = static_cast<double>(limit) * shorter / longer;
    size = std::llrint(asked);
  }
  if (size == in.shorter) return in;
  if (!limited || rounding == SideRounding::detr) asked = static_cast<double>(size);
  return {size, whole(asked * longer / shorter)};
}

// The size that another library would choose, as if it had been given.
ImageSizeArgs with_size(const ResizeArgs& args, const SampleView& in) {
  const int64_t height = in.shape[in.layout.find('H')], width = in.shape[in.layout.find('W')];
  const float shorter = *args.resize_shorter, longest = args.max_size ? args.max_size->front() : 0;
  if (in.layout.find('D') >= 0) refuse("expected images for \"size_rounding\", got the layout ", in.layout);
  if (height == 0 || width == 0) refuse("expected an image that is not empty, got the shape ", in.shape);
  for (float size : {shorter, longest})
    if (!(size >= 0 && size < 0x1p31f) || size != std::floor(size))
      refuse("expected whole numbers below 2**31 for \"size_rounding\", got ", size);
  const Sides sides = resized_sides(args.size_rounding, {std::min(height, width), std::max(height, width)},
                                    static_cast<int64_t>(shorter), static_cast<int64_t>(longest));
  ImageSizeArgs given = args;
  given.resize_shorter.reset();
  given.max_size.reset();
  given.mode = SizeMode::each;
  given.size.emplace();
  for (bool is_shorter : {height <= width, height > width})
    given.size->push_back(static_cast<float>(std::max<int64_t>(1, is_shorter ? sides.shorter : sides.longer)));
  return given;
}

void check_rounding(const ResizeArgs& args, const Inference& call) {
  if (args.size_rounding == SideRounding::round) return;
  if (!args.resize_shorter && !call.per_sample("resize_shorter"))
    refuse("expected \"resize_shorter\" with \"size_rounding\", got another size");
  if (args.roi_start || call.per_sample("roi_start")) refuse("expected \"size_rounding\" or a region, got both");
  if (args.max_size && args.max_size->size() != 1)
    refuse("expected one number in \"max_size\" with \"size_rounding\", got ", args.max_size->size());
}

std::vector<AxisPlan> plan(const Sample<ResizeArgs>& sample) {
  const ResizeArgs& args = sample.args;
  if (args.size_rounding == SideRounding::round) return plan_image(sample.in[0], args);
  return plan_image(sample.in[0], with_size(args, sample.in[0]));
}

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

Moves resize_moves(const Sample<ResizeArgs>& sample) { return moves_of(sample.in[0], plan(sample)); }

}  // namespace

AVIDA_OP(resize, ResizeArgs) {
  op.doc("Resizes images, videos or volumes.")
      .input("input", "The samples to resize.",
             {"HWC", "FHWC", "CHW", "FCHW", "CFHW", "DHWC", "FDHWC", "CDHW", "FCDHW", "CFDHW"})
      .ignored("image_type", codecs::ImageType::rgb)
      .arg("save_attrs", &ResizeArgs::save_attrs, "Whether to return the spatial extents of the input as well.",
           fixed | adds_output)
      .arg("inside_only", &ResizeArgs::inside_only,
           "Whether what is outside of the region, or of the image, has no weight, as in Pillow and PyTorch. Otherwise "
           "neighbours of the region count, and beyond the image its border is repeated.",
           fixed)
      .arg("size_rounding", &ResizeArgs::size_rounding,
           "Whose rounding gives the longer side with `resize_shorter` and `max_size`: \"round\", to the nearest "
           "number; "
           "\"torchvision\", its Resize; \"detr\", the transforms of DETR; \"transformers\", its image processor of "
           "DETR.")
      .example("avida.resize(image, size=[2, 3])")
      .outputs_from([](const ResizeArgs& args) { return args.save_attrs ? 2 : 1; })
      .infer([](Infer<ResizeArgs>& call) {
        infer_resize(call.args, call.args, call.call);
        check_image_size(call.args, call.call);
        check_rounding(call.args, call.call);
        if (!call.args.save_attrs) return;
        call.out.resize(2, call.out[0]);
        call.out[1].dtype = DType::int32;
        call.out[1].ndim = 1;
        call.out[1].layout = {};
      });
  image_size_args(op);
  resamples<ResizePlan>(op);
}

AVIDA_MOVES(resize, ResizeArgs, resize_moves)

}  // namespace avida::ops
