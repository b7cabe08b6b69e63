#include <cmath>

#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

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
  bool quiet = false;
  std::optional<Vec<float>> scaling;
  std::optional<Layout> shape_layout;
  std::string threshold_type = "iou";
  std::vector<float> thresholds = {0};
  std::optional<int> total_num_attempts;
};

// Where windows are searched without end by request, this many are enough to see that there is none.
constexpr int64_t kHopeless = 100'000;

struct Range {
  float low, high;
};

Range range_of(const Vec<float>& given, int first, const char* name) {
  const Range range{given[first], given[first + 1]};
  if (!(range.low >= 0 && range.low <= range.high && range.high <= 1e6f))
    fail(ErrorKind::runtime, "expected a range within 0 to 1e6 in \"", name, "\", got [", range.low, ", ", range.high,
         ']');
  return range;
}

// A box, or a window, in shares of the image's extents: x, y and perhaps z.
struct Box {
  float start[3] = {0, 0, 0}, end[3] = {1, 1, 1};
};

float box_size(const Box& box, int dims) {
  float size = 1;
  for (int d = 0; d < dims; d++) size *= box.end[d] - box.start[d];
  return size;
}

float shared_size(const Box& a, const Box& b, int dims) {
  float size = 1;
  for (int d = 0; d < dims; d++)
    size *= std::max(std::min(a.end[d], b.end[d]) - std::max(a.start[d], b.start[d]), 0.0f);
  return size;
}

bool holds_center(const Box& window, const Box& box, int dims) {
  for (int d = 0; d < dims; d++)
    if (float center = 0.5f * (box.start[d] + box.end[d]); center < window.start[d] || center > window.end[d])
      return false;
  return true;
}

// How much of a box is in the window; a box without any size is in it or not.
float share_inside(const Box& window, const Box& box, int dims) {
  const float size = box_size(box, dims);
  return size > 0 ? shared_size(window, box, dims) / size : holds_center(window, box, dims);
}

// Which number of a box's row is what: x, y, z start; X, Y, Z end or W, H, D are extents.
struct BoxLayout {
  int dims, start[3], end[3];
  bool ends;

  BoxLayout(const RandomBboxCropArgs& args, int64_t columns) {
    Layout layout = args.ltrb.value_or(true) ? "xyXY" : "xyWH";
    if (columns == 6) layout = args.ltrb.value_or(true) ? "xyzXYZ" : "xyzWHD";
    if (args.bbox_layout) layout = *args.bbox_layout;
    if (columns != layout.size())
      fail(ErrorKind::runtime, "expected rows of ", layout.size(), " numbers, ", layout, ", got ", columns);
    dims = static_cast<int>(columns) / 2;
    ends = layout.find('X') >= 0;
    bool complete = columns == 4 || columns == 6;
    for (int d = 0; d < dims && complete; d++) {
      start[d] = layout.find("xyz"[d]);
      end[d] = layout.find((ends ? "XYZ" : "WHD")[d]);
      complete = start[d] >= 0 && end[d] >= 0;
    }
    if (!complete) fail(ErrorKind::runtime, "expected xyXY, xyWH, xyzXYZ or xyzWHD in any order, got ", layout);
  }

  Box read(const float* row) const {
    constexpr float slack = 1e-6f;  // start plus extent may be rounded upwards
    Box box;
    for (int d = 0; d < dims; d++) {
      const float from = row[start[d]], to = ends ? row[end[d]] : from + row[end[d]];
      if (!(from >= -slack && from <= to && to <= 1 + slack))
        fail(ErrorKind::runtime, "expected boxes within 0 to 1, got one from ", from, " to ", to, " along axis ",
             "xyz"[d]);
      box.start[d] = std::clamp(from, 0.0f, 1.0f);
      box.end[d] = std::clamp(to, 0.0f, 1.0f);
    }
    return box;
  }

  // The part of the box that is in the window, in shares of the window.
  void write(const Box& box, const Box& window, float* row) const {
    for (int d = 0; d < dims; d++) {
      const float extent = window.end[d] - window.start[d];
      auto place = [&](float x) { return extent > 0 ? std::clamp((x - window.start[d]) / extent, 0.0f, 1.0f) : 0; };
      const float from = place(box.start[d]), to = place(box.end[d]);
      row[start[d]] = from;
      row[end[d]] = ends ? to : to - from;
    }
  }
};

// Draws the windows of one sample until one is right.
class WindowSearch {
 public:
  explicit WindowSearch(const Sample<RandomBboxCropArgs>& sample)
      : layout(sample.args, sample.in[0].shape[1]), args_(sample.args), random_(sample.random) {
    const SampleView& in = sample.in[0];
    for (int64_t i = 0; i < in.shape[0]; i++) boxes.push_back(layout.read(in.as<float>() + i * in.shape[1]));
    if (args_.input_shape) read_extents(*args_.input_shape, "input_shape", image_);
    if (args_.crop_shape) read_extents(*args_.crop_shape, "crop_shape", crop_);
    if (args_.scaling) scaling_ = range_of(*args_.scaling, 0, "scaling");
    if (args_.aspect_ratio)
      for (int i = 0; i < 3; i++)
        ratios_[i] = range_of(*args_.aspect_ratio, args_.aspect_ratio->size() == 6 ? 2 * i : 0, "aspect_ratio");
    search();
  }

  bool keeps(const Box& box) const { return keeps(window, box); }
  // Where the window is and how large: in pixels where it was asked for in pixels.
  float anchor(int d) const { return args_.crop_shape ? std::round(window.start[d] * image_[d]) : window.start[d]; }
  float extent(int d) const { return args_.crop_shape ? crop_[d] : window.end[d] - window.start[d]; }

  const BoxLayout layout;
  std::vector<Box> boxes;
  Box window;

 private:
  void read_extents(const Vec<int64_t>& given, const char* name, float* extents) const {
    const Layout order = args_.shape_layout.value_or(layout.dims == 2 ? "WH" : "WHD");
    if (given.size() != layout.dims || order.size() != layout.dims)
      fail(ErrorKind::runtime, "expected ", layout.dims, " extents in \"", name, "\" and \"shape_layout\", got ",
           given.size(), " and ", order);
    for (int d = 0; d < layout.dims; d++) {
      const int at = order.find("WHD"[d]);
      if (at < 0) fail(ErrorKind::runtime, "expected W, H (and D) in \"shape_layout\", got ", order);
      if (given[at] < 1 || given[at] > 1 << 24)
        fail(ErrorKind::runtime, "expected extents of 1 to 2^24 in \"", name, "\", got ", given[at]);
      extents[d] = static_cast<float>(given[at]);
    }
  }

  float uniform(float low, float high) {
    return static_cast<float>(low + (static_cast<double>(high) - low) * (random_.next() * 0x1p-32));
  }
  // A window that is larger than the image covers it.
  float place(float extent) { return uniform(std::min(1 - extent, 0.0f), std::max(1 - extent, 0.0f)); }
  float place_pixels(float extent, float image) {
    const float room = image - extent;
    return std::min(room, 0.0f) + static_cast<float>(random_.below(static_cast<unsigned>(std::fabs(room)) + 1));
  }

  // The extents of a window in shares of the image's; false where their ratios are not as asked for.
  bool draw_extents(float* extents) {
    const int dims = layout.dims;
    float longest = 0;
    for (int d = 0; d < dims; d++) {
      extents[d] = uniform(scaling_.low, scaling_.high);
      longest = std::max(longest, extents[d] * image_[d]);
    }
    const bool one_shape = ratios_[0].low == ratios_[0].high && (dims == 2 || ratios_[1].low == ratios_[1].high);
    if (one_shape) {  // drawing would never meet it: what was drawn decides the size alone
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
    for (int d = 0; d < layout.dims; d++) {
      if (args_.crop_shape) extents[d] = crop_[d] / image_[d];
      drawn.start[d] = args_.crop_shape ? place_pixels(crop_[d], image_[d]) / image_[d] : place(extents[d]);
      drawn.end[d] = drawn.start[d] + extents[d];
      if (extents[d] <= 1) drawn.end[d] = std::min(drawn.end[d], 1.0f);
    }
    return drawn;
  }

  // How well a window goes with its boxes: with the worst of them, or with the best.
  float quality(const Box& drawn) const {
    const bool all = args_.all_boxes_above_threshold, iou = args_.threshold_type == "iou";
    float result = all || boxes.empty() ? 1 : 0;
    for (const Box& box : boxes) {
      float value = share_inside(drawn, box, layout.dims);
      if (iou) {
        const float shared = shared_size(drawn, box, layout.dims);
        const float covered = box_size(drawn, layout.dims) + box_size(box, layout.dims) - shared;
        value = covered > 0 ? shared / covered : 0;
      }
      result = all ? std::min(result, value) : std::max(result, value);
    }
    return result;
  }

  bool keeps(const Box& drawn, const Box& box) const {
    if (!args_.bbox_prune_threshold) return holds_center(drawn, box, layout.dims);
    const float inside = share_inside(drawn, box, layout.dims);
    return inside > 0 && inside >= *args_.bbox_prune_threshold;
  }

  void search() {
    const auto thresholds = static_cast<unsigned>(args_.thresholds.size());
    const bool may_be_whole = args_.allow_no_crop.value_or(!args_.crop_shape);
    const int64_t most = args_.total_num_attempts ? *args_.total_num_attempts : kHopeless;
    float best = -1;
    for (int64_t tried = 0; tried < most;) {
      const unsigned choice = random_.below(thresholds + may_be_whole);
      if (choice == thresholds) {
        window = Box();
        return;
      }
      for (int i = 0; i < args_.num_attempts && tried < most; i++, tried++) {
        const std::optional<Box> drawn = draw();
        if (!drawn) continue;
        const float value = quality(*drawn);
        const bool enough = value >= args_.thresholds[choice];
        const bool useful =
            boxes.empty() || std::ranges::any_of(boxes, [&](const Box& box) { return keeps(*drawn, box); });
        if (useful && value > best) window = *drawn, best = value;
        if (enough && useful) {
          window = *drawn;
          return;
        }
        if (enough) {  // without any box in it: perhaps another threshold has more luck
          tried++;
          break;
        }
      }
    }
    if (!args_.total_num_attempts)
      fail(ErrorKind::runtime, "expected a window to be possible, got none in ", most,
           " attempts; \"total_num_attempts\" takes the best one then");
  }

  const RandomBboxCropArgs& args_;
  RandomStream random_;
  float image_[3] = {1, 1, 1}, crop_[3] = {1, 1, 1};
  Range scaling_{1, 1}, ratios_[3] = {{1, 1}, {1, 1}, {1, 1}};
};

void infer(Infer<RandomBboxCropArgs>& call) {
  const RandomBboxCropArgs& args = call.args;
  check_floats(call.in[0], "boxes");
  if (call.in[0].ndim != 2) fail(ErrorKind::runtime, "expected rows of numbers, got a rank of ", call.in[0].ndim);
  if (args.ltrb && args.bbox_layout) fail(ErrorKind::runtime, "expected \"bbox_layout\" or \"ltrb\", got both");
  if (args.thresholds.empty()) fail(ErrorKind::runtime, "expected at least one of \"thresholds\", got none");
  for (float threshold : args.thresholds)
    if (!(threshold >= 0 && threshold <= 1))
      fail(ErrorKind::runtime, "expected \"thresholds\" from 0 to 1, got ", threshold);
  if (args.threshold_type != "iou" && args.threshold_type != "overlap")
    fail(ErrorKind::runtime, "expected \"iou\" or \"overlap\" for \"threshold_type\", got \"", args.threshold_type,
         '"');
  if (float prune = args.bbox_prune_threshold.value_or(0); !(prune >= 0 && prune <= 1))
    fail(ErrorKind::runtime, "expected \"bbox_prune_threshold\" from 0 to 1, got ", prune);
  if (args.num_attempts < 1 || args.total_num_attempts.value_or(1) < 1)
    fail(ErrorKind::runtime, "expected at least one attempt, got ", args.num_attempts, " and a total of ",
         args.total_num_attempts.value_or(1));
  if (args.scaling && args.scaling->size() != 2)
    fail(ErrorKind::runtime, "expected 2 numbers in \"scaling\", got ", args.scaling->size());
  if (args.scaling) range_of(*args.scaling, 0, "scaling");
  if (args.aspect_ratio) {
    const int n = args.aspect_ratio->size();
    if (n != 2 && n != 6) fail(ErrorKind::runtime, "expected 2 or 6 numbers in \"aspect_ratio\", got ", n);
    for (int i = 0; i < n; i += 2)
      if (range_of(*args.aspect_ratio, i, "aspect_ratio").high < 1e-6f)
        fail(ErrorKind::runtime, "expected ratios of more than 1e-6 in \"aspect_ratio\", got ",
             (*args.aspect_ratio)[i]);
  }
  if (args.crop_shape || call.call.per_sample("crop_shape")) {
    if (!args.input_shape && !call.call.per_sample("input_shape"))
      fail(ErrorKind::runtime, "expected \"input_shape\" with \"crop_shape\", got none");
    if (args.scaling || args.aspect_ratio || args.allow_no_crop.value_or(false))
      fail(ErrorKind::runtime, "expected \"crop_shape\" alone, got \"",
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
  if (call.in[1].dtype != DType::int32) fail(ErrorKind::runtime, "expected labels of int32, got ", call.in[1].dtype);
  if (call.in[1].ndim < 1) fail(ErrorKind::runtime, "expected a label for each box, got a single number");
  call.out[3].dtype = DType::int32;
  call.out[3].ndim = call.in[1].ndim;
}

void set_shape(Sample<RandomBboxCropArgs>& sample) {
  const SampleView &in = sample.in[0], &labels = sample.in[1];
  const WindowSearch found(sample);
  const int64_t kept = std::ranges::count_if(found.boxes, [&](const Box& box) { return found.keeps(box); });
  sample.out[0].shape = sample.out[1].shape = {found.layout.dims};
  sample.out[2].shape = {kept, in.shape[1]};
  if (sample.args.output_bbox_indices) sample.out.back().shape = {kept};
  if (labels.dtype == DType::none) return;
  if (labels.shape[0] != in.shape[0])
    fail(ErrorKind::runtime, "expected a label for each of ", in.shape[0], " boxes, got labels of shape ",
         labels.shape);
  sample.out[3].shape = labels.shape;
  sample.out[3].shape[0] = kept;
}

// The search is done again: the same numbers are drawn.
void run(const Sample<RandomBboxCropArgs>& sample) {
  const SampleView& labels = sample.in[1];
  const WindowSearch found(sample);
  const int dims = found.layout.dims;
  for (int d = 0; d < dims; d++) {
    sample.out[0].as<float>()[d] = found.anchor(d);
    sample.out[1].as<float>()[d] = found.extent(d);
  }
  const int64_t boxes = std::ssize(found.boxes), width = labels.data && boxes ? labels.elements() / boxes : 0;
  int64_t kept = 0;
  for (int64_t i = 0; i < boxes; i++) {
    if (!found.keeps(found.boxes[i])) continue;
    found.layout.write(found.boxes[i], found.window, sample.out[2].as<float>() + 2 * dims * kept);
    if (width) std::copy_n(labels.as<int>() + i * width, width, sample.out[3].as<int>() + kept * width);
    if (sample.args.output_bbox_indices) sample.out.back().as<int>()[kept] = static_cast<int>(i);
    kept++;
  }
}

}  // namespace

AVIDA_OP(random_bbox_crop, RandomBboxCropArgs) {
  using Args = RandomBboxCropArgs;
  op.doc("Draws a window of an image that goes with its bounding boxes, and moves them to where the crop shows them.")
      .input("boxes",
             "Rows of four numbers, or six for volumes, in shares of the image's extents, as `bbox_layout` says.")
      .optional_input("labels", "Of int32, one for each box: those of the boxes that are kept are a fourth output.")
      .arg("all_boxes_above_threshold", &Args::all_boxes_above_threshold,
           "All boxes have to meet the threshold; else one is enough.", fixed)
      .arg("allow_no_crop", &Args::allow_no_crop,
           "The whole image is drawn as often as each of the thresholds; by default, unless `crop_shape` is given.",
           fixed)
      .arg("aspect_ratio", &Args::aspect_ratio,
           "The range of the window's width divided by its height, 1 by default. For volumes, ranges for x/y, x/z and "
           "y/z, or one for all. Extents are those of the image where `input_shape` is given, else all 1.",
           fixed)
      .arg("bbox_layout", &Args::bbox_layout,
           "What the numbers are: x, y, z for the start, X, Y, Z for the end or W, H, D for the extents; \"xyXY\" or "
           "\"xyzXYZ\" by default.")
      .arg("bbox_prune_threshold", &Args::bbox_prune_threshold,
           "Boxes are kept that have at least this share of their area, and more than none, in the window; without it, "
           "those whose centre is in it.",
           fixed)
      .arg("crop_shape", &Args::crop_shape, "The window's extents in pixels; then anchor and shape are pixels too.")
      .arg("input_shape", &Args::input_shape, "The image's extents in pixels.")
      .arg("ltrb", &Args::ltrb, "Boxes end with their end (the default), not with their extents: use `bbox_layout`.",
           fixed)
      .arg("num_attempts", &Args::num_attempts, "Windows that are drawn before another threshold is.", fixed)
      .arg("output_bbox_indices", &Args::output_bbox_indices,
           "The numbers of the boxes that are kept are a further output.", fixed)
      .arg("quiet", &Args::quiet, "Nothing is ever printed when no window was found: for scripts that say so.", fixed)
      .arg("scaling", &Args::scaling, "The range of the window's extents, as shares of the image's; 1 by default.",
           fixed)
      .arg("shape_layout", &Args::shape_layout,
           "The order of `crop_shape` and `input_shape`: \"WH\" or \"WHD\" by default.")
      .arg("threshold_type", &Args::threshold_type,
           "What thresholds are for: \"iou\", what box and window share of all that they cover; \"overlap\", the share "
           "of the box that is in the window.")
      .arg("thresholds", &Args::thresholds, "One of them is drawn, which the window's boxes have to meet.", fixed)
      .arg("total_num_attempts", &Args::total_num_attempts,
           "Windows that are drawn in all; then the best one is taken, or the whole image if no window had a box.",
           fixed)
      .example(
          "anchor, shape, boxes = avida.random_bbox_crop(np.float32([[0.1, 0.2, 0.5, 0.6]]), scaling=[0.5, 1], "
          "thresholds=[0, 0.3])")
      .random()
      .outputs_from([](const Args& args) { return 3 + args.output_bbox_indices; })
      .output_per_optional_input()
      .infer(infer)
      .each_sample(set_shape, run);
}

}  // namespace avida::ops
