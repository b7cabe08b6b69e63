#include "ops/bbox/box_encoder.h"

#include <algorithm>

#include "core/clones.h"
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

// Numbers of boxes, one array for each, so that loops over boxes vectorise.
struct BoxColumns {
  std::vector<float> left, top, right, bottom, area;

  explicit BoxColumns(const SampleView& boxes) {
    for (int64_t b = 0; b < boxes.shape[0]; b++) {
      const float* box = boxes.as<float>() + 4 * b;
      left.push_back(box[0]);
      top.push_back(box[1]);
      right.push_back(box[2]);
      bottom.push_back(box[3]);
      area.push_back(box_area(box));
    }
  }
};

// box_overlap() of an anchor and n boxes; -2, which is below all, where that is not a number.
AVIDA_CLONES void overlap_all(float* __restrict shared, const float* __restrict left, const float* __restrict top,
                              const float* __restrict right, const float* __restrict bottom,
                              const float* __restrict area, const float* anchor, int64_t n) {
  const float from_x = anchor[0], from_y = anchor[1], to_x = anchor[2], to_y = anchor[3], own = box_area(anchor);
  for (int64_t b = 0; b < n; b++) {
    const float width = (to_x < right[b] ? to_x : right[b]) - (left[b] < from_x ? from_x : left[b]);
    const float height = (to_y < bottom[b] ? to_y : bottom[b]) - (top[b] < from_y ? from_y : top[b]);
    const float both = width * height, ratio = both / (area[b] + own - both);
    const bool meet = (width > 0) & (height > 0), is_number = ratio >= 0;
    shared[b] = meet ? is_number ? ratio : -2 : 0;
  }
}

// Boxes that share at least as much with this anchor as with the best one so far take it. Returns the most that one
// shares, as its bits: those of numbers from 0 on are in order, and a maximum of integers vectorises.
AVIDA_CLONES int32_t take_anchor(const float* __restrict shared, float* __restrict most, int32_t* __restrict best,
                                 int32_t anchor, int64_t n) {
  int32_t greatest = 0;
  for (int64_t b = 0; b < n; b++) {
    const float now = shared[b], before = most[b];
    const int32_t best_before = best[b], bits = __builtin_bit_cast(int32_t, now);
    const bool takes = now >= before;
    greatest = bits > greatest ? bits : greatest;
    best[b] = takes ? anchor : best_before;
    most[b] = takes ? now : before;
  }
  return greatest;
}

// For each anchor, the index of its box, or -1. Every box has at least the anchor of the greatest IoU, the last one of
// several.
std::vector<int64_t> matches(const SampleView& boxes, const BoxEncoderArgs& args) {
  const auto anchors = static_cast<int32_t>(args.anchors.size() / 4);
  const int64_t n = boxes.shape[0];
  const BoxColumns columns(boxes);
  std::vector<float> shared(n), most_of_box(n, -1);
  std::vector<int32_t> best_of_box(n, 0);
  std::vector<int64_t> match(anchors, -1);
  for (int32_t a = 0; a < anchors; a++) {
    overlap_all(shared.data(), columns.left.data(), columns.top.data(), columns.right.data(), columns.bottom.data(),
                columns.area.data(), args.anchors.data() + 4 * a, n);
    const int32_t bits = take_anchor(shared.data(), most_of_box.data(), best_of_box.data(), a, n);
    const float greatest = __builtin_bit_cast(float, bits);
    if (greatest > args.criteria) match[a] = std::ranges::find(shared, greatest) - shared.begin();
  }
  for (int64_t b = 0; b < n; b++) match[best_of_box[b]] = b;
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

struct EncoderPlan {
  static void shape(Sample<BoxEncoderArgs>& sample);
  static void run(const Sample<BoxEncoderArgs>& sample);
};

void EncoderPlan::shape(Sample<BoxEncoderArgs>& sample) {
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

void EncoderPlan::run(const Sample<BoxEncoderArgs>& sample) {
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
      .each_sample<EncoderPlan>()
      .cost(20);
}

}  // namespace avida::ops
