#include <cmath>

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

struct Centered {
  float middle[2], extent[2];

  explicit Centered(const float* ltrb) {
    for (int d = 0; d < 2; d++) {
      middle[d] = 0.5f * (ltrb[d] + ltrb[d + 2]);
      extent[d] = ltrb[d + 2] - ltrb[d];
    }
  }
};

float area(const float* box) { return (box[2] - box[0]) * (box[3] - box[1]); }

// The area that two boxes share, as a part of all that they cover.
float overlap(const float* a, const float* b) {
  const float width = std::min(a[2], b[2]) - std::max(a[0], b[0]);
  const float height = std::min(a[3], b[3]) - std::max(a[1], b[1]);
  if (!(width > 0 && height > 0)) return 0;
  return width * height / (area(a) + area(b) - width * height);
}

// For each anchor, the box that it stands for, or -1. Every box has at least the anchor that it shares most with,
// the last of several.
std::vector<int64_t> matches(const SampleView& boxes, const BoxEncoderArgs& args) {
  const int64_t anchors = std::ssize(args.anchors) / 4;
  std::vector<int64_t> match(anchors, -1), best_of_box(boxes.shape[0], 0);
  std::vector<float> most_of_box(boxes.shape[0], -1);
  for (int64_t a = 0; a < anchors; a++) {
    float most = args.criteria;
    for (int64_t b = 0; b < boxes.shape[0]; b++) {
      const float shared = overlap(boxes.as<float>() + 4 * b, args.anchors.data() + 4 * a);
      if (shared > most) most = shared, match[a] = b;
      if (shared >= most_of_box[b]) most_of_box[b] = shared, best_of_box[b] = a;
    }
  }
  for (int64_t b = 0; b < boxes.shape[0]; b++) match[best_of_box[b]] = b;
  return match;
}

void encode(const float* box, const float* anchor, float* out, const BoxEncoderArgs& args) {
  const Centered to(box), from(anchor);
  for (int d = 0; d < 2; d++) {
    out[d] = to.middle[d];
    out[d + 2] = to.extent[d];
    if (!args.offset) continue;
    const float scale = args.scale, extent = from.extent[d] * scale;
    const float shift = (to.middle[d] * scale - from.middle[d] * scale) / extent;
    out[d] = (shift - args.means[d]) / args.stds[d];
    out[d + 2] = (std::log(to.extent[d] * scale / extent) - args.means[d + 2]) / args.stds[d + 2];
  }
}

void infer(Infer<BoxEncoderArgs>& call) {
  const BoxEncoderArgs& args = call.args;
  check_floats(call.in[0], "boxes");
  if (call.in[1].dtype != DType::int32) fail(ErrorKind::runtime, "expected labels of int32, got ", call.in[1].dtype);
  if (args.anchors.empty() || args.anchors.size() % 4 != 0)
    fail(ErrorKind::runtime, "expected anchors of four numbers each, got ", args.anchors.size(), " numbers");
  if (!(args.criteria >= 0 && args.criteria <= 1))
    fail(ErrorKind::runtime, "expected \"criteria\" from 0 to 1, got ", args.criteria);
  if (args.means.size() != 4 || args.stds.size() != 4)
    fail(ErrorKind::runtime, "expected four numbers in \"means\" and in \"stds\", got ", args.means.size(), " and ",
         args.stds.size());
  call.out[0].ndim = 2;
  call.out[1].ndim = 1;
  call.out[1].dtype = DType::int32;
  for (Meta& out : call.out) out.layout = {};
}

void set_shape(Sample<BoxEncoderArgs>& sample) {
  const SampleView &boxes = sample.in[0], &labels = sample.in[1];
  if (boxes.ndim() != 2 || boxes.shape[1] != 4)
    fail(ErrorKind::runtime, "expected rows of four numbers, got the shape ", boxes.shape);
  if (labels.elements() != boxes.shape[0])
    fail(ErrorKind::runtime, "expected a label for each of ", boxes.shape[0], " boxes, got labels of shape ",
         labels.shape);
  const int64_t anchors = std::ssize(sample.args.anchors) / 4;
  sample.out[0].shape = {anchors, 4};
  sample.out[1].shape = {anchors};
}

void run(const Sample<BoxEncoderArgs>& sample) {
  const BoxEncoderArgs& args = sample.args;
  const std::vector<int64_t> match = matches(sample.in[0], args);
  for (int64_t a = 0; a < std::ssize(match); a++) {
    const float* anchor = args.anchors.data() + 4 * a;
    float* out = sample.out[0].as<float>() + 4 * a;
    sample.out[1].as<int>()[a] = match[a] < 0 ? 0 : sample.in[1].as<int>()[match[a]];
    if (match[a] >= 0)
      encode(sample.in[0].as<float>() + 4 * match[a], anchor, out, args);
    else if (args.offset)
      std::fill_n(out, 4, 0.0f);
    else
      encode(anchor, anchor, out, args);
  }
}

}  // namespace

AVIDA_OP(box_encoder, BoxEncoderArgs) {
  using Args = BoxEncoderArgs;
  op.doc("Finds for each anchor the bounding box that it stands for, as detectors such as SSD are trained with.")
      .input("input_0", "The boxes: rows of left, top, right, bottom, in shares of the image's extents.")
      .input("input_1", "A label for each box, of int32.")
      .arg("anchors", &Args::anchors, "The anchors, as boxes, one after the other.", fixed | required)
      .arg("criteria", &Args::criteria, "An anchor stands for a box that it shares more than this with (IoU).", fixed)
      .arg("means", &Args::means, "What is subtracted from offsets.", fixed)
      .arg("offset", &Args::offset, "Give boxes by how they differ from their anchors.", fixed)
      .arg("scale", &Args::scale, "By how much coordinates are multiplied before offsets are computed.", fixed)
      .arg("stds", &Args::stds, "What offsets are divided by.", fixed)
      .example("boxes, labels = avida.box_encoder(np.float32([[0, 0, 0.5, 0.5]]), [1], anchors=[0, 0, 0.4, 0.4])")
      .outputs(2)
      .infer(infer)
      .each_sample(set_shape, run)
      .cost(20);
}

}  // namespace avida::ops
