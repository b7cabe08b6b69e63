#include "ops/bbox/box_encoder.h"

#include "loops/items/each_item.h"
#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

struct BoxEncoderArgs {
  std::vector<float> anchors;
  float criteria = 0.5f;
  std::vector<float> means = {0, 0, 0, 0};
  bool offset = false;
  float scale = 1;
  std::vector<float> stds = {1, 1, 1, 1};
};

// For each anchor, the index of its box, or -1. Every box has at least the anchor of the greatest IoU, the last one of
// several.
std::vector<int64_t> matches(const SampleView& boxes, const BoxEncoderArgs& args) {
  const int64_t anchors = std::ssize(args.anchors) / 4;
  std::vector<int64_t> match(anchors, -1), best_of_box(boxes.shape[0], 0);
  std::vector<float> most_of_box(boxes.shape[0], -1);
  for (int64_t a = 0; a < anchors; a++) {
    float most = args.criteria;
    for (int64_t b = 0; b < boxes.shape[0]; b++) {
      const float shared = box_overlap(boxes.as<float>() + 4 * b, args.anchors.data() + 4 * a);
      if (shared > most) most = shared, match[a] = b;
      if (shared >= most_of_box[b]) most_of_box[b] = shared, best_of_box[b] = a;
    }
  }
  for (int64_t b = 0; b < boxes.shape[0]; b++) match[best_of_box[b]] = b;
  return match;
}

void infer(Infer<BoxEncoderArgs>& call) {
  const BoxEncoderArgs& args = call.args;
  check_floats(call.in[0], "boxes");
  check_labels(call.in[1]);
  if (args.anchors.empty() || args.anchors.size() % 4 != 0)
    refuse("expected anchors of four numbers each, got ", args.anchors.size(), " numbers");
  if (!(args.criteria >= 0 && args.criteria <= 1)) refuse("expected \"criteria\" from 0 to 1, got ", args.criteria);
  if (args.means.size() != 4 || args.stds.size() != 4)
    refuse("expected four numbers in \"means\" and in \"stds\", got ", args.means.size(), " and ", args.stds.size());
  call.out[0].ndim = 2;
  call.out[1].ndim = 1;
  call.out[1].dtype = DType::int32;
  for (Meta& out : call.out) out.layout = {};
}

void set_shape(Sample<BoxEncoderArgs>& sample) {
  const SampleView &boxes = sample.in[0], &labels = sample.in[1];
  if (boxes.ndim() != 2 || boxes.shape[1] != 4) refuse("expected rows of four numbers, got the shape ", boxes.shape);
  if (labels.elements() != boxes.shape[0]) refuse_labels(labels, boxes.shape[0]);
  const int64_t anchors = std::ssize(sample.args.anchors) / 4;
  sample.out[0].shape = {anchors, 4};
  sample.out[1].shape = {anchors};
}

// One invalid box would turn a loss into NaN.
void check_boxes(const SampleView& boxes) {
  for (int64_t i = 0; i < boxes.elements(); i += 4) {
    const float* box = boxes.as<float>() + i;
    const float width = box[2] - box[0], height = box[3] - box[1];
    if (!(width >= 0 && height >= 0 && std::isfinite(width + height)))
      refuse("expected boxes that end after they start, got ", box[0], ", ", box[1], ", ", box[2], ", ", box[3]);
  }
}

void run(const Sample<BoxEncoderArgs>& sample) {
  const BoxEncoderArgs& args = sample.args;
  EncodeAnchor::Params params{.out = sample.out[0].as<float>(),
                              .out_labels = sample.out[1].as<int>(),
                              .boxes = sample.in[0].as<float>(),
                              .anchors = args.anchors.data(),
                              .labels = sample.in[1].as<int>(),
                              .best = nullptr,
                              .box_count = sample.in[0].shape[0],
                              .criteria = args.criteria,
                              .code = {.offset = args.offset, .scale = args.scale}};
  std::copy_n(args.means.begin(), 4, params.code.means);
  std::copy_n(args.stds.begin(), 4, params.code.stds);
  if (sample.launches) {
    auto* best = static_cast<long*>(sample.launches->scratch(params.box_count * int64_t{sizeof(long)}));
    params.anchors = readable(sample, args.anchors);
    params.best = best;
    sample.launches->add<BestAnchor>(0, params.box_count,
                                     {best, params.boxes, params.anchors, std::ssize(args.anchors) / 4});
    sample.launches->then();
  }
  // On the CPU one pass over all pairs finds the best box and the best anchor.
  each_item<EncodeAnchor>(sample, 0, sample.out[1].shape[0], params, [&] {
    check_boxes(sample.in[0]);
    const std::vector<int64_t> match = matches(sample.in[0], args);
    for (int64_t a = 0; a < std::ssize(match); a++) EncodeAnchor::write(params, a, match[a]);
  });
}

}  // namespace

AVIDA_OP(box_encoder, BoxEncoderArgs) {
  using Args = BoxEncoderArgs;
  op.doc("Matches bounding boxes with anchors, for training detectors such as SSD.")
      .input("input_0", "Boxes: rows of left, top, right, bottom, as fractions of the image's extents.")
      .input("input_1", "An int32 label for each box.")
      .arg("anchors", &Args::anchors, "The anchors: left, top, right, bottom of each, in one list.", fixed | required)
      .arg("criteria", &Args::criteria, "An anchor is matched with a box when their IoU is above this.", fixed)
      .arg("means", &Args::means, "Four numbers that are subtracted from offsets.", fixed)
      .arg("offset", &Args::offset, "Whether boxes are encoded as offsets from their anchors.", fixed)
      .arg("scale", &Args::scale, "The factor by which coordinates are multiplied before offsets are computed.", fixed)
      .arg("stds", &Args::stds, "Four numbers that offsets are divided by.", fixed)
      .example("boxes, labels = avida.box_encoder(np.float32([[0, 0, 0.5, 0.5]]), [1], anchors=[0, 0, 0.4, 0.4])")
      .outputs(2)
      .infer(infer)
      .each_sample(set_shape, run)
      .cost(20);
}

}  // namespace avida::ops
