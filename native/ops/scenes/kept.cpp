// scenes.kept: which objects are left in an image, by what of them is visible; scenes.clip: their parts inside.
#include <cmath>
#include <optional>

#include "ops/scenes/object_masks.h"

namespace avida::ops {
namespace {

struct KeptArgs {
  float min_visible = 0, min_size = 0;
};

struct Extents {
  double height, width;

  explicit Extents(const SampleView& extents) : height(extents.as<int32_t>()[0]), width(extents.as<int32_t>()[1]) {}
  double inside_x(double x) const { return std::clamp(x, 0.0, width); }
  double inside_y(double y) const { return std::clamp(y, 0.0, height); }
  bool has(double x, double y) const { return x >= 0 && y >= 0 && x < width && y < height; }
};

// What is visible of an object, in pixels, and all of it.
struct Seen {
  double area = 0, whole = 0, width = 0, height = 0;

  bool kept(const KeptArgs& args) const {
    return area > 0 && area >= static_cast<double>(args.min_visible) * whole &&
           std::min(width, height) >= static_cast<double>(args.min_size);
  }
};

Seen seen_of_box(const Extents& image, const float* box) {
  Seen seen;
  seen.whole = (static_cast<double>(box[2]) - box[0]) * (static_cast<double>(box[3]) - box[1]);
  seen.width = image.inside_x(box[2]) - image.inside_x(box[0]);
  seen.height = image.inside_y(box[3]) - image.inside_y(box[1]);
  seen.area = seen.width * seen.height;
  return seen;
}

Seen seen_of_rotated(const Extents& image, const float* box) {
  const double angle = box[4] * (M_PI / 180), c = std::cos(angle), s = std::sin(angle);
  Polygon polygon;
  for (auto [x, y] : {std::pair(-0.5, -0.5), {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}})
    polygon.corners.push_back({box[0] + x * box[2] * c + y * box[3] * s, box[1] - x * box[2] * s + y * box[3] * c});
  Seen seen{.whole = static_cast<double>(box[2]) * box[3], .width = box[2], .height = box[3]};
  polygon.cut_to(image.width, image.height);
  seen.area = polygon.area();
  return seen;
}

// Points count one each; their sizes are none.
Seen seen_of_points(const Extents& image, const SampleView& points, int64_t object, const KeptArgs& args) {
  Seen seen{.width = args.min_size, .height = args.min_size};
  const int64_t count = points.shape[1], step = points.shape[2];
  const float* at = points.as<float>() + object * count * step;
  for (int64_t i = 0; i < count; i++, at += step) {
    if (step > 2 && at[2] == 0) continue;
    seen.whole++;
    seen.area += image.has(at[0], at[1]);
  }
  return seen;
}

Seen seen_of_mask(const Extents& image, const SampleView& masks, int64_t object) {
  const Visible visible = ObjectMasks(masks).visible(object, image.width, image.height);
  if (!(visible.pixels > 0)) return {};
  const Around& around = visible.around;
  return {visible.pixels, visible.whole, around.right - around.left, around.bottom - around.top};
}

class KeptPlan {
 public:
  explicit KeptPlan(const Sample<KeptArgs>& sample) : image_(sample.in[0]) {
    for (size_t kind = 1; kind < sample.in.size() && of_ == 0; kind++)
      if (sample.in[kind].data) of_ = kind;
    if (of_ == 0) refuse("expected objects with boxes, masks or keypoints");
  }

  void shape(Sample<KeptArgs>& sample) const { sample.out[0].shape = {sample.in[of_].shape[0]}; }
  void run(const Sample<KeptArgs>& sample) const {
    for (int64_t i = 0; i < sample.in[of_].shape[0]; i++)
      sample.out[0].as<bool>()[i] = seen(sample, i).kept(sample.args);
  }

 private:
  Seen seen(const Sample<KeptArgs>& sample, int64_t i) const {
    const SampleView& rows = sample.in[of_];
    switch (of_) {
      case 1:
        return seen_of_box(image_, rows.as<float>() + 4 * i);
      case 2:
        return seen_of_rotated(image_, rows.as<float>() + 5 * i);
      case 3:
        return seen_of_mask(image_, rows, i);
      default:
        return seen_of_points(image_, rows, i, sample.args);
    }
  }

  const Extents image_;
  size_t of_ = 0;  // the input that tells: the first one that is given
};

// Boxes end at the borders, those with masks around what is visible. Points beyond the borders are not visible.
struct ClipPlan {
  void run(const Sample<NoArgs>& sample) const {
    const SampleView &rows = sample.in[0], &masks = sample.in[2];
    const Extents image(sample.in[1]);
    const auto* in = rows.as<float>();
    auto* out = sample.out[0].as<float>();
    if (rows.ndim() == 3) return clip_points(image, rows, out);
    for (int64_t i = 0; i < rows.shape[0]; i++, in += 4, out += 4) {
      for (int k = 0; k < 4; k++) out[k] = static_cast<float>(k % 2 ? image.inside_y(in[k]) : image.inside_x(in[k]));
      if (masks.data && !std::equal(in, in + 4, out)) {
        const Visible visible = ObjectMasks(masks).visible(i, image.width, image.height);
        if (visible.pixels > 0) visible.around.store(out);
      }
    }
  }
  static void clip_points(const Extents& image, const SampleView& points, float* out) {
    const auto* in = points.as<float>();
    const int64_t step = points.shape[2];
    std::copy_n(in, points.elements(), out);
    for (int64_t at = 0; step == 3 && at < points.elements(); at += step)
      if (!image.has(in[at], in[at + 1])) out[at + 2] = 0;
  }
};

void check_extents(const Meta& extents) {
  if (extents.dtype != DType::int32) refuse("expected extents of int32, got ", extents.dtype);
}

}  // namespace

AVIDA_OP_IN(scenes, kept, KeptArgs) {
  op.doc("Whether each object is visible.")
      .hidden()
      .input("extents", "Height and width of the images.")
      .optional_input("boxes", "Corners.")
      .optional_input("rotated", "Centre, extents, angle.")
      .optional_input("masks", "A mask for each object.")
      .optional_input("keypoints", "Points of each object.")
      .arg("min_visible", &KeptArgs::min_visible, "The share of an object that must be visible.")
      .arg("min_size", &KeptArgs::min_size, "The least width and height of what is visible.")
      .infer([](Infer<KeptArgs>& call) {
        check_extents(call.in[0]);
        check_masks(call.in[3]);
        Meta& out = call.out[0];
        out.dtype = DType::boolean;
        out.ndim = 1;
        out.layout = {};
      })
      .on_cpu()
      .each_sample<KeptPlan>();
}

AVIDA_OP_IN(scenes, clip, NoArgs) {
  op.doc("Clips boxes, and marks points that are not in the image.")
      .hidden()
      .input("rows", "Corners of boxes, or points.")
      .input("extents", "Height and width of the images.")
      .optional_input("masks", "A mask for each box.")
      .infer([](Infer<NoArgs>& call) {
        check_annotations(call.in[0], "annotations");
        check_extents(call.in[1]);
        check_masks(call.in[2]);
      })
      .on_cpu()
      .each_sample<ClipPlan>();
}

}  // namespace avida::ops
