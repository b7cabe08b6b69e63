// scenes.dense_masks, scenes.run_masks: masks of objects in another form; scenes.split_edges: polygons with more
// corners.
#include <cmath>

#include "core/parts/label_mask.h"
#include "ops/scenes/object_masks.h"

namespace avida::ops {
namespace {

// Of polygons pixels whose centres are inside, as COCO's tools draw them.
class DensePlan {
 public:
  explicit DensePlan(const Sample<NoArgs>& sample)
      : masks_(sample.in[0]), height_(sample.in[1].as<int32_t>()[0]), width_(sample.in[1].as<int32_t>()[1]) {
    for (int64_t i = 0; masks_.has_runs() && i < masks_.objects(); i++)
      if (const Position extents = masks_.extents(i);
          extents.y != static_cast<double>(height_) || extents.x != static_cast<double>(width_))
        refuse("expected run lengths of the image's size, ", height_, " by ", width_, ", got those of ", extents.y,
               " by ", extents.x);
  }

  Shape shape() const { return {masks_.objects(), height_, width_}; }
  int64_t rows() const { return masks_.objects(); }
  void run(const Sample<NoArgs>& sample) const {
    const int64_t pixels = height_ * width_;
    std::vector<int32_t> labels(static_cast<size_t>(masks_.has_polygons() ? pixels : 0));
    for (int64_t i = sample.begin; i < sample.end; i++) draw(i, labels, sample.out[0].as<uint8_t>() + i * pixels);
  }

 private:
  // `labels` is empty before and after.
  void draw(int64_t object, std::vector<int32_t>& labels, uint8_t* out) const {
    const int64_t pixels = height_ * width_;
    std::fill_n(out, pixels, 0);
    if (masks_.has_runs()) {
      masks_.each_column(object, [&](int64_t x, int64_t begin, int64_t end) {
        for (int64_t y = begin; y < end; y++) out[y * width_ + x] = 1;
      });
      return;
    }
    LabelMask mask(labels.data(), height_, width_);
    Around around;
    masks_.each_polygon(object, [&](Polygon& polygon) {
      std::vector<Vertex> outline;
      for (const Position& at : polygon.corners) {
        outline.push_back({static_cast<float>(at.x), static_cast<float>(at.y)});
        around.add(at);
      }
      if (pixels) mask.paint_polygon(outline, 1);
    });
    if (!(around.top <= around.bottom)) return;
    auto row = [&](double y) { return static_cast<int64_t>(std::clamp(y, 0.0, static_cast<double>(height_))); };
    const int64_t end = row(around.bottom + 2) * width_;
    for (int64_t i = row(around.top - 1) * width_; i < end; i++) {
      out[i] = labels[static_cast<size_t>(i)] != 0;
      labels[static_cast<size_t>(i)] = 0;
    }
  }

  const ObjectMasks masks_;
  const int64_t height_, width_;
};

// Height, width, and the lengths of runs of each dense mask; zeros fill the rows.
class RunsPlan {
 public:
  explicit RunsPlan(const Sample<NoArgs>& sample) {
    const SampleView& masks = sample.in[0];
    if (masks.ndim() != 3) refuse("expected a mask for each object, got the shape ", masks.shape);
    const int64_t height = masks.shape[1], width = masks.shape[2];
    for (int64_t i = 0; i < masks.shape[0]; i++) {
      const auto* mask = masks.as<uint8_t>() + i * height * width;
      std::vector<uint32_t>& runs = rows_.emplace_back();
      const Around around = ObjectMasks(masks).visible(i, 0, 0).around;  // beside it nothing is inside
      const int64_t left = around.left <= around.right ? static_cast<int64_t>(around.left) : width;
      const int64_t right = left < width ? static_cast<int64_t>(around.right) : width;
      runs = {static_cast<uint32_t>(height), static_cast<uint32_t>(width), static_cast<uint32_t>(left * height)};
      bool inside = false;
      for (int64_t x = left; x < right; x++)
        for (int64_t y = 0; y < height; y++) {
          if ((mask[y * width + x] != 0) != inside) runs.push_back(0), inside = !inside;
          runs.back()++;
        }
      if (inside && right < width) runs.push_back(0);
      runs.back() += static_cast<uint32_t>((width - right) * height);
      most_ = std::max(most_, std::ssize(runs));
    }
  }

  Shape shape() const { return {std::ssize(rows_), most_}; }
  void run(const Sample<NoArgs>& sample) const {
    auto* out = sample.out[0].as<uint32_t>();
    std::fill_n(out, std::ssize(rows_) * most_, 0);
    for (const auto& runs : rows_) std::copy(runs.begin(), runs.end(), out), out += most_;
  }

 private:
  std::vector<std::vector<uint32_t>> rows_;
  int64_t most_ = 2;
};

// Long edges of polygons become several, which may be bent. Rows are as long as the longest: one outline that runs to
// and fro must not exhaust memory.
class SplitEdgesPlan {
  static constexpr int64_t kMostCorners = int64_t{1} << 26;

 public:
  explicit SplitEdgesPlan(const Sample<NoArgs>& sample) {
    const ObjectMasks masks(sample.in[0]);
    for (int64_t i = 0; i < masks.objects(); i++) {
      std::vector<Position>& row = rows_.emplace_back();
      masks.each_polygon(i, [&](Polygon& polygon) {
        if (!row.empty()) row.push_back({NAN, NAN});
        const auto& corners = polygon.corners;
        for (size_t k = 0; k < corners.size(); k++) {
          each_part(corners[k], corners[(k + 1) % corners.size()], [&](const Position& at) { row.push_back(at); });
          most_ = std::max(most_, std::ssize(row));
          if (most_ > kMostCorners / masks.objects())
            refuse("expected polygons with at most ", kMostCorners, " corners when long edges are split, got ",
                   masks.objects(), " objects, one of them with ", most_);
        }
      });
    }
  }

  Shape shape() const { return {std::ssize(rows_), most_, 2}; }
  void run(const Sample<NoArgs>& sample) const {
    auto* out = sample.out[0].as<float>();
    std::fill_n(out, std::ssize(rows_) * most_ * 2, NAN);
    for (const auto& row : rows_) {
      for (size_t i = 0; i < row.size(); i++)
        out[2 * i] = static_cast<float>(row[i].x), out[2 * i + 1] = static_cast<float>(row[i].y);
      out += 2 * most_;
    }
  }

 private:
  std::vector<std::vector<Position>> rows_;
  int64_t most_ = 1;
};

void set_masks(Meta& out, DType dtype, int ndim) {
  out.dtype = dtype;
  out.ndim = ndim;
  out.layout = dtype == DType::uint8 ? Layout("NHW") : Layout();
}

}  // namespace

AVIDA_OP_IN(scenes, dense_masks, NoArgs) {
  op.doc("Masks with a number for each pixel.")
      .hidden()
      .input("masks", "Polygons or run lengths.")
      .input("extents", "Height and width of the images.")
      .infer([](Infer<NoArgs>& call) {
        check_masks(call.in[0]);
        if (call.in[0].dtype == DType::uint8) refuse("expected polygons or run lengths");
        if (call.in[1].dtype != DType::int32) refuse("expected extents of int32, got ", call.in[1].dtype);
        set_masks(call.out[0], DType::uint8, 3);
      })
      .on_cpu()
      .each_sample<DensePlan>();
}

AVIDA_OP_IN(scenes, run_masks, NoArgs) {
  op.doc("Run lengths of masks.")
      .hidden()
      .input("masks", "Masks with a number for each pixel.")
      .infer([](Infer<NoArgs>& call) {
        if (call.in[0].dtype != DType::uint8) refuse("expected masks of uint8, got ", call.in[0].dtype);
        set_masks(call.out[0], DType::uint32, 2);
      })
      .on_cpu()
      .each_sample<RunsPlan>();
}

AVIDA_OP_IN(scenes, split_edges, NoArgs) {
  op.doc("Polygons with corners on long edges.")
      .hidden()
      .input("masks", "Polygons.")
      .infer([](Infer<NoArgs>& call) {
        if (call.in[0].dtype != DType::float32) refuse("expected polygons of float32, got ", call.in[0].dtype);
      })
      .on_cpu()
      .each_sample<SplitEdgesPlan>();
}

}  // namespace avida::ops
