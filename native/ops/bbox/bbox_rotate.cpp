#include "ops/bbox/bbox_rotate.h"

#include <cmath>

#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

struct BboxRotateArgs {
  float angle = 0;
  Layout bbox_layout = "xyXY";
  bool bbox_normalized = true;
  Vec<int64_t> input_shape;
  bool keep_size = false;
  std::string mode = "expand";
  float remove_threshold = 0.1f;
  Layout shape_layout = "HW";
  Vec<float> size;
};

// As rotate() chooses it: odd or even as the extent that it mostly comes from.
double canvas(double extent, double like) {
  const double pixels = std::ceil(extent - 0.01);
  return pixels + (std::fmod(pixels, 2) != std::fmod(like, 2));
}

BoxTurn turn_of(const BboxRotateArgs& args) {
  constexpr double degree = 3.14159265358979324 / 180;
  const int h = args.shape_layout.find('H'), w = args.shape_layout.find('W');
  if (std::max(h, w) >= args.input_shape.size())
    fail(ErrorKind::runtime, "expected \"input_shape\" to have an extent for each letter of ", args.shape_layout,
         ", got ", args.input_shape.size());
  const BoxSize before = {static_cast<double>(args.input_shape[w]), static_cast<double>(args.input_shape[h])};
  BoxTurn turn{std::cos(args.angle * degree), std::sin(args.angle * degree), before, before};
  if (args.keep_size) return turn;
  if (!args.size.empty()) {
    if (args.size.size() != 2)
      fail(ErrorKind::runtime, "expected height and width for \"size\", got ", args.size.size(), " numbers");
    turn.after = {args.size[1], args.size[0]};
    return turn;
  }
  const BoxSize all = turn.enclosing(before);
  turn.after = {canvas(all.width, turn.sideways() ? before.height : before.width),
                canvas(all.height, turn.sideways() ? before.width : before.height)};
  return turn;
}

void infer(Infer<BboxRotateArgs>& call) {
  const BboxRotateArgs& args = call.args;
  check_floats(call.in[0], "boxes");
  if (call.in[0].ndim != 2) value_error("expected rows of four numbers, got a rank of ", call.in[0].ndim);
  if (args.bbox_layout != Layout("xyXY") && args.bbox_layout != Layout("xyWH"))
    fail(ErrorKind::runtime, "expected \"xyXY\" or \"xyWH\" for \"bbox_layout\", got ", args.bbox_layout);
  if (args.mode != "expand" && args.mode != "halfway" && args.mode != "fixed")
    fail(ErrorKind::runtime, "expected \"expand\", \"halfway\" or \"fixed\" for \"mode\", got \"", args.mode, '"');
  if (!(args.remove_threshold >= 0 && args.remove_threshold < 1))
    fail(ErrorKind::runtime, "expected \"remove_threshold\" from 0 to below 1, got ", args.remove_threshold);
  if (args.keep_size && (!args.size.empty() || call.call.per_sample("size")))
    fail(ErrorKind::runtime, "expected \"keep_size\" or \"size\", got both");
  if (args.shape_layout.find('H') < 0 || args.shape_layout.find('W') < 0)
    fail(ErrorKind::runtime, "expected a \"shape_layout\" with H and W, got ", args.shape_layout);
  call.out[0].layout = {};
  if (call.out.size() < 2) return;
  if (call.in[1].dtype != DType::int32) fail(ErrorKind::runtime, "expected labels of int32, got ", call.in[1].dtype);
  call.out[1] = call.in[1];
  call.out[1].is_batch = call.out[0].is_batch;
  call.out[1].samples = call.out[0].samples;
}

// Which boxes stay decides the shapes, so all are turned there already; they are few.
int64_t rotate_boxes(const Sample<BboxRotateArgs>& sample, float* boxes, int* labels) {
  const SampleView &in = sample.in[0], &names = sample.in[1];
  const BboxRotateArgs& args = sample.args;
  const double share = args.mode == "expand" ? 1 : args.mode == "halfway" ? 0.5 : 0;
  const BboxRotate::Params params{.turn = turn_of(args),
                                  .ends = args.bbox_layout == Layout("xyXY"),
                                  .normalized = args.bbox_normalized,
                                  .share = share,
                                  .remove_threshold = args.remove_threshold};
  int64_t kept = 0;
  for (int64_t i = 0; i < in.shape[0]; i++) {
    float box[4];
    if (!BboxRotate::rotate(params, in.as<float>() + 4 * i, box)) continue;
    if (boxes) std::copy_n(box, 4, boxes + 4 * kept);
    if (labels) labels[kept] = names.as<int>()[i];
    kept++;
  }
  return kept;
}

void set_shape(Sample<BboxRotateArgs>& sample) {
  const Shape& shape = sample.in[0].shape;
  if (shape[1] != 4) fail(ErrorKind::runtime, "expected rows of four numbers, got the shape ", shape);
  const int64_t kept = rotate_boxes(sample, nullptr, nullptr);
  sample.out[0].shape = {kept, 4};
  if (sample.out.size() < 2) return;
  const SampleView& labels = sample.in[1];
  if (labels.elements() != shape[0] || labels.ndim() < 1 || labels.shape[0] != shape[0])
    fail(ErrorKind::runtime, "expected a label for each of ", shape[0], " boxes, got labels of shape ", labels.shape);
  sample.out[1].shape = labels.shape;
  sample.out[1].shape[0] = kept;
}

}  // namespace

AVIDA_OP(bbox_rotate, BboxRotateArgs) {
  using Args = BboxRotateArgs;
  op.doc("Moves bounding boxes to where rotate() brings what they surround.")
      .input("bboxes", "Rows of four floats, as `bbox_layout` says.")
      .optional_input("labels", "A label for each box; those of boxes that are removed are removed too.")
      .arg("angle", &Args::angle, "The angle in degrees, counter-clockwise.", required)
      .arg("bbox_layout", &Args::bbox_layout, "What the numbers are: xyXY, start and end, or xyWH, start and extent.")
      .arg("bbox_normalized", &Args::bbox_normalized, "Boxes are in shares of the image's extents, not in pixels.",
           fixed)
      .arg("input_shape", &Args::input_shape, "The extents of the image before it is turned.", required)
      .arg("keep_size", &Args::keep_size, "The image keeps its extents.", fixed)
      .arg("mode", &Args::mode,
           "The size of a turned box: expand, all around it; fixed, as it was; halfway between the two.")
      .arg("remove_threshold", &Args::remove_threshold,
           "Boxes of which less than this share is left inside of the image are removed.", fixed)
      .arg("shape_layout", &Args::shape_layout, "What the numbers of `input_shape` are.")
      .arg("size", &Args::size, "Height and width of the turned image, where rotate() got them.")
      .example("avida.bbox_rotate(np.float32([[0.1, 0.2, 0.3, 0.5]]), angle=30, input_shape=[480, 640])")
      .output_per_optional_input()
      .infer(infer)
      .each_sample(set_shape, [](const Sample<Args>& sample) {
        rotate_boxes(sample, sample.out[0].as<float>(), sample.out.size() > 1 ? sample.out[1].as<int>() : nullptr);
      });
}

}  // namespace avida::ops
