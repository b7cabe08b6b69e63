#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

enum class ThresholdType { iou, overlap };
AVIDA_CHOICES(ThresholdType, "iou", "overlap")

struct RandomBboxCropArgs {
  bool all_boxes_above_threshold = true;
  std::optional<bool> allow_no_crop;
  std::optional<Vec<float>> aspect_ratio;
  std::optional<Layout> bbox_layout;
  std::optional<float> bbox_prune_threshold;
  std::optional<Vec<int64_t>> crop_shape, input_shape;
  std::optional<bool> ltrb;
  int num_attempts = 1;
  bool output_bbox_indices = false;
  std::optional<Vec<float>> scaling;
  std::optional<Layout> shape_layout;
  ThresholdType threshold_type = ThresholdType::iou;
  std::vector<float> thresholds = {0};
  std::optional<int> total_num_attempts;
};

// The limit of attempts where users set none: a search that has not ended by then never will.
constexpr int64_t kHopeless = 100'000;

struct Range {
  float low, high;
};

Range range_of(const Vec<float>& given, int first, const char* name) {
  const Range range{given[first], given[first + 1]};
  if (!(range.low >= 0 && range.low <= range.high && range.high <= 1e6f))
    refuse("expected a range within 0 to 1e6 in \"", name, "\", got [", range.low, ", ", range.high, ']');
  return range;
}

// A box or a window, as fractions of the image's extents. Without a z axis it covers 0 to 1 there, which changes
// neither its size nor what it shares with others.
struct Box {
  float start[3] = {0, 0, 0}, end[3] = {1, 1, 1};

  float size() const {
    float size = 1;
    for (int d = 0; d < 3; d++) size *= end[d] - start[d];
    return size;
  }
};

float shared_size(const Box& a, const Box& b) {
  float size = 1;
  for (int d = 0; d < 3; d++) size *= std::max(std::min(a.end[d], b.end[d]) - std::max(a.start[d], b.start[d]), 0.0f);
  return size;
}

bool holds_center(const Box& window, const Box& box) {
  for (int d = 0; d < 3; d++)
    if (float center = 0.5f * (box.start[d] + box.end[d]); center < window.start[d] || center > window.end[d])
      return false;
  return true;
}

// The fraction of a box that lies in the window. A box of size 0 counts by its centre.
float share_inside(const Box& window, const Box& box) {
  const float size = box.size();
  return size > 0 ? shared_size(window, box) / size : holds_center(window, box);
}

// The columns of a box's coordinates: x, y, z are its start, X, Y, Z its end, W, H, D its extents.
struct BoxLayout {
  int dims, start[3], end[3];
  bool ends;

  BoxLayout(const RandomBboxCropArgs& args, int64_t columns) {
    Layout layout = args.ltrb.value_or(true) ? "xyXY" : "xyWH";
    if (columns == 6) layout = args.ltrb.value_or(true) ? "xyzXYZ" : "xyzWHD";
    if (args.bbox_layout) layout = *args.bbox_layout;
    if (columns != layout.size()) refuse("expected rows of ", layout.size(), " numbers, ", layout, ", got ", columns);
    dims = static_cast<int>(columns) / 2;
    ends = layout.find('X') >= 0;
    bool complete = columns == 4 || columns == 6;
    for (int d = 0; d < dims && complete; d++) {
      start[d] = layout.find("xyz"[d]);
      end[d] = layout.find((ends ? "XYZ" : "WHD")[d]);
      complete = start[d] >= 0 && end[d] >= 0;
    }
    if (!complete) refuse("expected xyXY, xyWH, xyzXYZ or xyzWHD in any order, got ", layout);
  }

  Box read(const float* row) const {
    constexpr float slack = 1e-6f;  // start plus extent may be rounded upwards
    Box box;
    for (int d = 0; d < dims; d++) {
      const float from = row[start[d]], to = ends ? row[end[d]] : from + row[end[d]];
      if (!(from >= -slack && from <= to && to <= 1 + slack))
        refuse("expected boxes within 0 to 1, got one from ", from, " to ", to, " along axis ", "xyz"[d]);
      box.start[d] = std::clamp(from, 0.0f, 1.0f);
      box.end[d] = std::clamp(to, 0.0f, 1.0f);
    }
    return box;
  }

  // The part of the box that lies in the window, as fractions of the window's extents.
  void write(const Box& box, const Box& window, float* row) const {
    for (int d = 0; d < dims; d++) {
      const float extent = window.end[d] - window.start[d];
      auto position = [&](float x) { return extent > 0 ? std::clamp((x - window.start[d]) / extent, 0.0f, 1.0f) : 0; };
      const float from = position(box.start[d]), to = position(box.end[d]);
      row[start[d]] = from;
      row[end[d]] = ends ? to : to - from;
    }
  }
};

// Draws windows until one goes with the boxes, and keeps the boxes that lie in it.
class RandomBboxCrop {
 public:
  explicit RandomBboxCrop(const Sample<RandomBboxCropArgs>& sample)
      : args_(sample.args), layout_(args_, sample.in[0].shape[1]), labels_(sample.in[1]), random_(sample.random) {
    const SampleView& in = sample.in[0];
    if (labels_.dtype != DType::none && labels_.shape[0] != in.shape[0]) refuse_labels(labels_, in.shape[0]);
    boxes_.reserve(in.shape[0]);
    for (int64_t i = 0; i < in.shape[0]; i++) boxes_.push_back(layout_.read(in.as<float>() + i * in.shape[1]));
    if (args_.input_shape) read_extents(*args_.input_shape, "input_shape", image_);
    if (args_.crop_shape) read_extents(*args_.crop_shape, "crop_shape", crop_);
    if (args_.scaling) scaling_ = range_of(*args_.scaling, 0, "scaling");
    if (args_.aspect_ratio)
      for (int i = 0; i < 3; i++)
        ratios_[i] = range_of(*args_.aspect_ratio, args_.aspect_ratio->size() == 6 ? 2 * i : 0, "aspect_ratio");
    search();
    for (int i = 0; i < std::ssize(boxes_); i++)
      if (keeps(window_, boxes_[i])) kept_.push_back(i);
  }

  void shape(Sample<RandomBboxCropArgs>& sample) const {
    const int64_t kept = std::ssize(kept_);
    sample.out[0].shape = sample.out[1].shape = {layout_.dims};
    sample.out[2].shape = {kept, 2 * layout_.dims};
    if (args_.output_bbox_indices) sample.out.back().shape = {kept};
    if (labels_.dtype == DType::none) return;
    sample.out[3].shape = labels_.shape;
    sample.out[3].shape[0] = kept;
  }

  void run(const Sample<RandomBboxCropArgs>& sample) const {
    const int dims = layout_.dims;
    for (int d = 0; d < dims; d++) {
      // In pixels where the window was asked for in pixels.
      const float start = window_.start[d], extent = window_.end[d] - start;
      sample.out[0].as<float>()[d] = args_.crop_shape ? std::round(start * image_[d]) : start;
      sample.out[1].as<float>()[d] = args_.crop_shape ? crop_[d] : extent;
    }
    const int64_t width = labels_.data && !boxes_.empty() ? labels_.elements() / std::ssize(boxes_) : 0;
    for (int64_t k = 0; k < std::ssize(kept_); k++) {
      layout_.write(boxes_[kept_[k]], window_, sample.out[2].as<float>() + 2 * dims * k);
      if (width) copy_label(sample.out[3], k, labels_, kept_[k], width);
      if (args_.output_bbox_indices) sample.out.back().as<int>()[k] = kept_[k];
    }
  }

 private:
  void read_extents(const Vec<int64_t>& given, const char* name, float* extents) const {
    const Layout order = args_.shape_layout.value_or(layout_.dims == 2 ? "WH" : "WHD");
    if (given.size() != layout_.dims || order.size() != layout_.dims)
      refuse("expected ", layout_.dims, " extents in \"", name, "\" and \"shape_layout\", got ", given.size(), " and ",
             order);
    for (int d = 0; d < layout_.dims; d++) {
      const int at = order.find("WHD"[d]);
      if (at < 0) refuse("expected W, H (and D) in \"shape_layout\", got ", order);
      if (given[at] < 1 || given[at] > 1 << 24)
        refuse("expected extents of 1 to 2^24 in \"", name, "\", got ", given[at]);
      extents[d] = static_cast<float>(given[at]);
    }
  }

  float uniform(float low, float high) {
    return static_cast<float>(low + (static_cast<double>(high) - low) * (random_.next() * 0x1p-32));
  }
  // A window that is larger than the image covers it.
  float draw_start(float extent) { return uniform(std::min(1 - extent, 0.0f), std::max(1 - extent, 0.0f)); }
  float draw_start_pixel(float extent, float image) {
    const float room = image - extent;
    return std::min(room, 0.0f) + static_cast<float>(random_.below(static_cast<unsigned>(std::fabs(room)) + 1));
  }

  // The extents of a window as fractions of the image's; false where their ratios are out of range.
  bool draw_extents(float* extents) {
    const int dims = layout_.dims;
    float longest = 0;
    for (int d = 0; d < dims; d++) {
      extents[d] = uniform(scaling_.low, scaling_.high);
      longest = std::max(longest, extents[d] * image_[d]);
    }
    const bool one_shape = ratios_[0].low == ratios_[0].high && (dims == 2 || ratios_[1].low == ratios_[1].high);
    if (one_shape) {  // no drawn extents would meet it exactly: they decide the size alone
      float parts[3] = {1, 1 / ratios_[0].low, 1 / ratios_[1].low};
      const float size = longest / *std::max_element(parts, parts + dims);
      float fit = 1;
      for (int d = 0; d < dims; d++) {
        extents[d] = size * parts[d] / image_[d];
        fit = std::min(fit, scaling_.high / extents[d]);
      }
      for (int d = 0; d < dims; d++) extents[d] *= fit;
      if (dims == 2) return true;
    }
    auto fits = [&](int a, int b, const Range& range) {
      const float ratio = extents[a] * image_[a] / (extents[b] * image_[b]);
      const float slack = one_shape ? 1e-5f : 0;
      return ratio >= range.low * (1 - slack) && ratio <= range.high * (1 + slack);
    };
    return fits(0, 1, ratios_[0]) && (dims == 2 || (fits(0, 2, ratios_[1]) && fits(1, 2, ratios_[2])));
  }

  std::optional<Box> draw() {
    Box drawn;
    float extents[3];
    if (!args_.crop_shape && !draw_extents(extents)) return {};
    for (int d = 0; d < layout_.dims; d++) {
      if (args_.crop_shape) extents[d] = crop_[d] / image_[d];
      drawn.start[d] = args_.crop_shape ? draw_start_pixel(crop_[d], image_[d]) / image_[d] : draw_start(extents[d]);
      drawn.end[d] = drawn.start[d] + extents[d];
      if (extents[d] <= 1) drawn.end[d] = std::min(drawn.end[d], 1.0f);
    }
    return drawn;
  }

  // How well a window goes with its boxes: the least of their values, or the greatest. Boxes are looked at until it is
  // clear whether that meets the threshold and, if it does not, whether it is above `best`.
  float quality(const Box& drawn, float threshold, float best) const {
    const bool all = args_.all_boxes_above_threshold;
    const float drawn_size = drawn.size();
    float result = all || boxes_.empty() ? 1 : 0;
    for (const Box& box : boxes_) {
      float value;
      if (iou_) {
        const float shared = shared_size(drawn, box), covered = drawn_size + box.size() - shared;
        value = covered > 0 ? shared / covered : 0;
      } else {
        value = share_inside(drawn, box);
      }
      result = all ? std::min(result, value) : std::max(result, value);
      if (all ? result < threshold && result <= best : result >= threshold) break;
    }
    return result;
  }

  bool keeps(const Box& drawn, const Box& box) const {
    if (!args_.bbox_prune_threshold) return holds_center(drawn, box);
    const float inside = share_inside(drawn, box);
    return inside > 0 && inside >= *args_.bbox_prune_threshold;
  }

  void search() {
    const auto thresholds = static_cast<unsigned>(args_.thresholds.size());
    const bool may_be_whole = args_.allow_no_crop.value_or(!args_.crop_shape);
    const int64_t most = args_.total_num_attempts ? *args_.total_num_attempts : kHopeless;
    // The best window counts only where the number of attempts has a limit.
    float best = args_.total_num_attempts ? -1 : std::numeric_limits<float>::infinity();
    for (int64_t tried = 0; tried < most;) {
      const unsigned choice = random_.below(thresholds + may_be_whole);
      if (choice == thresholds) {
        window_ = Box();
        return;
      }
      const float threshold = args_.thresholds[choice];
      for (int i = 0; i < args_.num_attempts && tried < most; i++, tried++) {
        const std::optional<Box> drawn = draw();
        if (!drawn) continue;
        const float value = quality(*drawn, threshold, best);
        const bool enough = value >= threshold;
        if (!enough && value <= best) continue;
        const bool useful =
            boxes_.empty() || std::ranges::any_of(boxes_, [&](const Box& box) { return keeps(*drawn, box); });
        if (useful) window_ = *drawn, best = value;
        if (enough && useful) return;
        if (enough) {  // without any box in it: another threshold may have more luck
          tried++;
          break;
        }
      }
    }
    if (!args_.total_num_attempts)
      refuse("expected a window to be possible, got none in ", most,
             " attempts. Pass \"total_num_attempts\" to take the best window after a limited number of attempts.");
  }

  const RandomBboxCropArgs& args_;
  const BoxLayout layout_;
  const SampleView& labels_;
  const bool iou_ = args_.threshold_type == ThresholdType::iou;
  RandomStream random_;
  float image_[3] = {1, 1, 1}, crop_[3] = {1, 1, 1};
  Range scaling_{1, 1}, ratios_[3] = {{1, 1}, {1, 1}, {1, 1}};
  std::vector<Box> boxes_;
  Box window_;
  std::vector<int> kept_;  // indices of boxes
};

void infer(Infer<RandomBboxCropArgs>& call) {
  const RandomBboxCropArgs& args = call.args;
  check_floats(call.in[0], "boxes");
  if (call.in[0].ndim != 2) refuse("expected rows of numbers, got a rank of ", call.in[0].ndim);
  if (args.ltrb && args.bbox_layout) refuse("expected \"bbox_layout\" or \"ltrb\", got both");
  if (args.thresholds.empty()) refuse("expected at least one of \"thresholds\", got none");
  for (float threshold : args.thresholds)
    if (!(threshold >= 0 && threshold <= 1)) refuse("expected \"thresholds\" from 0 to 1, got ", threshold);
  if (float prune = args.bbox_prune_threshold.value_or(0); !(prune >= 0 && prune <= 1))
    refuse("expected \"bbox_prune_threshold\" from 0 to 1, got ", prune);
  if (args.num_attempts < 1 || args.total_num_attempts.value_or(1) < 1)
    refuse("expected at least one attempt, got ", args.num_attempts, " and a total of ",
           args.total_num_attempts.value_or(1));
  if (args.scaling && args.scaling->size() != 2)
    refuse("expected 2 numbers in \"scaling\", got ", args.scaling->size());
  if (args.scaling) range_of(*args.scaling, 0, "scaling");
  if (args.aspect_ratio) {
    const int n = args.aspect_ratio->size();
    if (n != 2 && n != 6) refuse("expected 2 or 6 numbers in \"aspect_ratio\", got ", n);
    for (int i = 0; i < n; i += 2)
      if (range_of(*args.aspect_ratio, i, "aspect_ratio").high < 1e-6f)
        refuse("expected ratios of more than 1e-6 in \"aspect_ratio\", got ", (*args.aspect_ratio)[i]);
  }
  if (args.crop_shape || call.call.per_sample("crop_shape")) {
    if (!args.input_shape && !call.call.per_sample("input_shape"))
      refuse("expected \"input_shape\" with \"crop_shape\", got none");
    if (args.scaling || args.aspect_ratio || args.allow_no_crop.value_or(false))
      refuse("expected \"crop_shape\" alone, got \"",
             args.scaling        ? "scaling"
             : args.aspect_ratio ? "aspect_ratio"
                                 : "allow_no_crop",
             "\" too");
  }
  for (Meta& out : call.out) out.layout = {};
  call.out[0].ndim = call.out[1].ndim = 1;
  if (args.output_bbox_indices) {
    call.out.back().dtype = DType::int32;
    call.out.back().ndim = 1;
  }
  if (call.in[1].dtype == DType::none) return;
  check_integer_labels(call.in[1]);
  if (call.in[1].ndim < 1) refuse("expected a label for each box, got a single number");
  call.out[3].dtype = call.in[1].dtype;
  call.out[3].ndim = call.in[1].ndim;
}

}  // namespace

AVIDA_OP(random_bbox_crop, RandomBboxCropArgs) {
  using Args = RandomBboxCropArgs;
  op.doc(
        "Draws a random crop window that suits bounding boxes, for detectors like SSD. "
        "Windows are drawn until the boxes in one meet a threshold. Boxes outside of the window are removed; the "
        "others are "
        "clipped, and become fractions of the window.")
      .input("boxes",
             "Rows of four numbers, or six for volumes, as fractions of the image's extents, in the order of "
             "`bbox_layout`.")
      .optional_input("labels",
                      "An int32 or int64 label for each box; the labels of the kept boxes are the fourth output.")
      .arg("all_boxes_above_threshold", &Args::all_boxes_above_threshold,
           "Whether all boxes have to meet the threshold; otherwise one is enough.", fixed)
      .arg("allow_no_crop", &Args::allow_no_crop,
           "Whether the whole image may be drawn, as often as each threshold; by default unless `crop_shape` is given.",
           fixed)
      .arg("aspect_ratio", &Args::aspect_ratio,
           "The range of the window's width divided by its height, 1 by default. For volumes, ranges for x/y, x/z and "
           "y/z, or one for all. Ratios are of pixels if `input_shape` is given, else of fractions.",
           fixed)
      .arg("bbox_layout", &Args::bbox_layout,
           "The order of a box's numbers: x, y, z are the start, X, Y, Z the end and W, H, D the extents; \"xyXY\" or "
           "\"xyzXYZ\" by default.")
      .arg("bbox_prune_threshold", &Args::bbox_prune_threshold,
           "The least fraction of a box's area inside the window for it to be kept; by default boxes are kept whose "
           "centre is inside.",
           fixed)
      .arg("crop_shape", &Args::crop_shape,
           "The window's extents in pixels; the outputs anchor and shape are in pixels then.")
      .arg("input_shape", &Args::input_shape, "The image's extents in pixels.")
      .arg("ltrb", &Args::ltrb,
           "Whether boxes are start and end (the default) or start and extents. Prefer `bbox_layout`.", fixed)
      .arg("num_attempts", &Args::num_attempts,
           "The number of windows that are drawn for a threshold before another one is chosen.", fixed)
      .arg("output_bbox_indices", &Args::output_bbox_indices,
           "Whether the last output has the indices of the kept boxes.", fixed)
      .arg("scaling", &Args::scaling, "The range of the window's extents, as fractions of the image's; 1 by default.",
           fixed)
      .arg("shape_layout", &Args::shape_layout,
           "The order of `crop_shape` and `input_shape`: \"WH\" or \"WHD\" by default.")
      .arg("threshold_type", &Args::threshold_type,
           "What thresholds are compared with: \"iou\", intersection over union of box and window, or \"overlap\", the "
           "fraction of the box inside the window.")
      .arg("thresholds", &Args::thresholds, "Thresholds, of which one is chosen at random for each round of attempts.",
           fixed)
      .arg("total_num_attempts", &Args::total_num_attempts,
           "The limit of attempts. After it the best window is taken, or the whole image if no window had a box.",
           fixed)
      .ignored("quiet", false)
      .example(
          "anchor, shape, boxes = avida.random_bbox_crop(np.float32([[0.1, 0.2, 0.5, 0.6]]), scaling=[0.5, 1], "
          "thresholds=[0, 0.3])")
      .random()
      .outputs(3)  // at least
      .outputs_from([](const Args& args) { return 3 + args.output_bbox_indices; })
      .output_per_optional_input()
      .infer(infer)
      .on_cpu()
      .each_sample<RandomBboxCrop>();
}

}  // namespace avida::ops
