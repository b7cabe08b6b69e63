#include <cmath>

#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

enum class BoxFormat { ends, extents };
AVIDA_CHOICES(BoxFormat, "xyXY", "xyWH")

enum class RotatedSize { expand, halfway, fixed };
AVIDA_CHOICES(RotatedSize, "expand", "halfway", "fixed")

struct BboxRotateArgs {
  float angle = 0;
  BoxFormat bbox_layout = BoxFormat::ends;
  bool bbox_normalized = true;
  Vec<int64_t> input_shape;
  bool keep_size = false;
  RotatedSize mode = RotatedSize::expand;
  float remove_threshold = 0.1f;
  Layout shape_layout = "HW";
  Vec<float> size;
};

struct Extents {
  double width, height;
};

// An image rotated about its centre.
struct Rotation {
  double cos, sin;
  Extents before, after;  // of the image

  explicit Rotation(const BboxRotateArgs& args) {
    constexpr double degree = 3.14159265358979324 / 180;
    const int h = args.shape_layout.find('H'), w = args.shape_layout.find('W');
    if (std::max(h, w) >= args.input_shape.size())
      refuse("expected \"input_shape\" to have an extent for each letter of ", args.shape_layout, ", got ",
             args.input_shape.size());
    cos = std::cos(args.angle * degree);
    sin = std::sin(args.angle * degree);
    before = after = {static_cast<double>(args.input_shape[w]), static_cast<double>(args.input_shape[h])};
    if (args.keep_size) return;
    if (!args.size.empty()) {
      if (args.size.size() != 2) refuse("expected height and width for \"size\", got ", args.size.size(), " numbers");
      after = {args.size[1], args.size[0]};
      return;
    }
    const Extents all = enclosing(before), from = sideways() ? Extents{before.height, before.width} : before;
    after = {canvas(all.width, from.width), canvas(all.height, from.height)};
  }

  // The extent that rotate() chooses: even or odd as the one that it mostly comes from.
  static double canvas(double extent, double like) {
    const double pixels = std::ceil(extent - 0.01);
    return pixels + (std::fmod(pixels, 2) != std::fmod(like, 2));
  }
  // Whether the width becomes the height.
  bool sideways() const { return std::fabs(static_cast<float>(sin)) >= std::fabs(static_cast<float>(cos)); }
  // The extents of the upright box around a rotated one.
  Extents enclosing(Extents box) const {
    const double c = std::fabs(cos), s = std::fabs(sin);
    return {c * box.width + s * box.height, s * box.width + c * box.height};
  }
  // The new position of a point of the image.
  void move(double& x, double& y) const {
    const double from_x = x - before.width / 2, from_y = y - before.height / 2;
    x = cos * from_x + sin * from_y + after.width / 2;
    y = cos * from_y - sin * from_x + after.height / 2;
  }
};

struct RotatedBox {
  int64_t index;  // of the box in the input
  float numbers[4];
};

class BboxRotate {
 public:
  explicit BboxRotate(const Sample<BboxRotateArgs>& sample)
      : args_(sample.args), labels_(sample.in[1]), rotation_(sample.args) {
    const SampleView& in = sample.in[0];
    if (in.shape[1] != 4) refuse("expected rows of four numbers, got the shape ", in.shape);
    if (sample.out.size() > 1 &&
        (labels_.elements() != in.shape[0] || labels_.ndim() < 1 || labels_.shape[0] != in.shape[0]))
      refuse_labels(labels_, in.shape[0]);
    if (args_.bbox_normalized) check_fractions(sample, "For boxes in pixels pass bbox_normalized=False.");
    for (int64_t i = 0; i < in.shape[0]; i++) rotate(in.as<float>() + 4 * i, i);
  }

  void shape(Sample<BboxRotateArgs>& sample) const {
    sample.out[0].shape = {std::ssize(kept_), 4};
    if (sample.out.size() < 2) return;
    sample.out[1].shape = labels_.shape;
    sample.out[1].shape[0] = std::ssize(kept_);
  }

  void run(const Sample<BboxRotateArgs>& sample) const {
    for (int64_t k = 0; k < std::ssize(kept_); k++) {
      std::copy_n(kept_[k].numbers, 4, sample.out[0].as<float>() + 4 * k);
      if (sample.out.size() > 1) copy_label(sample.out[1], k, labels_, kept_[k].index, 1);
    }
  }

 private:
  void rotate(const float* in, int64_t index) {
    const bool ends = args_.bbox_layout == BoxFormat::ends;
    const Extents from = args_.bbox_normalized ? rotation_.before : Extents{1, 1};
    const Extents to = args_.bbox_normalized ? rotation_.after : Extents{1, 1};
    const Extents size{(in[2] - (ends ? in[0] : 0.0f)) * from.width, (in[3] - (ends ? in[1] : 0.0f)) * from.height};
    double x = in[0] * from.width + size.width / 2, y = in[1] * from.height + size.height / 2;
    rotation_.move(x, y);
    const Extents around = rotation_.enclosing(size);
    const Extents same = rotation_.sideways() ? Extents{size.height, size.width} : size;
    const double share = args_.mode == RotatedSize::expand ? 1 : args_.mode == RotatedSize::halfway ? 0.5 : 0;
    const double width = same.width + (around.width - same.width) * share;
    const double height = same.height + (around.height - same.height) * share;
    auto inside = [](double x, double extent) { return x < 0 ? 0 : extent < x ? extent : x; };
    const Extents& image = rotation_.after;
    const double left = inside(x - width / 2, image.width), right = inside(x + width / 2, image.width);
    const double top = inside(y - height / 2, image.height), bottom = inside(y + height / 2, image.height);
    if (!((right - left) * (bottom - top) >= args_.remove_threshold * width * height)) return;
    kept_.push_back({index,
                     {static_cast<float>(left / to.width), static_cast<float>(top / to.height),
                      static_cast<float>((ends ? right : right - left) / to.width),
                      static_cast<float>((ends ? bottom : bottom - top) / to.height)}});
  }

  const BboxRotateArgs& args_;
  const SampleView& labels_;
  const Rotation rotation_;
  std::vector<RotatedBox> kept_;
};

void infer(Infer<BboxRotateArgs>& call) {
  const BboxRotateArgs& args = call.args;
  check_floats(call.in[0], "boxes");
  if (call.in[0].ndim != 2) value_error("expected rows of four numbers, got a rank of ", call.in[0].ndim);
  if (!(args.remove_threshold >= 0 && args.remove_threshold < 1))
    refuse("expected \"remove_threshold\" from 0 to below 1, got ", args.remove_threshold);
  if (args.keep_size && (!args.size.empty() || call.call.per_sample("size")))
    refuse("expected \"keep_size\" or \"size\", got both");
  if (args.shape_layout.find('H') < 0 || args.shape_layout.find('W') < 0)
    refuse("expected a \"shape_layout\" with H and W, got ", args.shape_layout);
  call.out[0].layout = {};
  if (call.out.size() < 2) return;
  check_integer_labels(call.in[1]);
  call.out[1] = call.in[1];
  call.out[1].is_batch = call.out[0].is_batch;
  call.out[1].samples = call.out[0].samples;
}

}  // namespace

AVIDA_OP(bbox_rotate, BboxRotateArgs) {
  using Args = BboxRotateArgs;
  op.doc("Rotates bounding boxes, as rotate() rotates their image.")
      .input("bboxes", "Rows of four floats in the order of `bbox_layout`.")
      .optional_input("labels", "An int32 or int64 label for each box; labels of removed boxes are removed too.")
      .arg("angle", &Args::angle, "The angle in degrees, counter-clockwise.", required)
      .arg("bbox_layout", &Args::bbox_layout, "The format of boxes: xyXY, start and end, or xyWH, start and extents.")
      .arg("bbox_normalized", &Args::bbox_normalized,
           "Whether boxes are fractions of the image's extents instead of pixels.", fixed)
      .arg("input_shape", &Args::input_shape, "The extents of the image before the rotation.", required)
      .arg("keep_size", &Args::keep_size, "Whether the image keeps its extents.", fixed)
      .arg("mode", &Args::mode,
           "The size of a rotated box: expand, the box around it; fixed, the old size; halfway between the two.")
      .arg("remove_threshold", &Args::remove_threshold,
           "Boxes of which less than this fraction remains inside the image are removed.", fixed)
      .arg("shape_layout", &Args::shape_layout, "The order of the extents in `input_shape`.")
      .arg("size", &Args::size, "Height and width of the rotated image, if they were given to rotate().")
      .example("avida.bbox_rotate(np.float32([[0.1, 0.2, 0.3, 0.5]]), angle=30, input_shape=[480, 640])")
      .output_per_optional_input()
      .infer(infer)
      .on_cpu()
      .each_sample<BboxRotate>();
}

}  // namespace avida::ops
