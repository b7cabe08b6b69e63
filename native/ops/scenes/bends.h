// Where positions go by a map that has no matrix: hidden operators beside one that bends images.
//
//   AVIDA_BENDS_IN(augment, elastic, ElasticArgs, ElasticParameters) is scenes.boxes.augment.elastic, and the same for
//   points and rotated boxes: the inputs and arguments of elastic, rows of annotations, and perhaps masks of the
//   objects. The map is turned around numerically, where positions are asked for.
#pragma once
#include <optional>

#include "loops/warping/warp_map.h"
#include "ops/scenes/object_masks.h"

namespace avida::ops {

// Maps are known at the centres of pixels of the output: straight between them, and beyond the borders all is moved
// like the border.
template <class Map>
class Bend {
 public:
  Bend(const Map& map, int64_t width, int64_t height) : map_(map), size_{width, height} {
    if (width < 1 || height < 1) return;
    for (int64_t i = 0; i < kGrid * kGrid; i++) {
      const Position at{(static_cast<double>(i % kGrid) + 0.5) / kGrid * static_cast<double>(width),
                        (static_cast<double>(i / kGrid) + 0.5) / kGrid * static_cast<double>(height)};
      nodes_.push_back({at, around(at).from});
    }
  }

  // Where a position of the input is shown in the output. `near` is where its neighbour is, if that is known.
  Position moved(Position from, const std::optional<Position>& near) const {
    if (nodes_.empty() || std::isnan(from.x) || std::isnan(from.y)) return from;
    Position at = from;
    if (near && !std::isnan(near->x) && !std::isnan(near->y)) {
      at = *near;
      if (found(from, at)) return at;
    }
    double best = INFINITY;
    auto offer = [&](Position candidate, Position its) {
      const double x = its.x - from.x, y = its.y - from.y, apart = x * x + y * y;
      if (apart < best) best = apart, at = candidate;
    };
    for (const Node& node : nodes_) offer(node.at, node.from);
    if (found(from, at)) return at;
    if (searches_ < kMostSearches) {
      searches_++;
      best = INFINITY;
      for (int64_t y = 0; y < size_[1]; y++)
        for (int64_t x = 0; x < size_[0]; x++)
          offer({static_cast<double>(x) + 0.5, static_cast<double>(y) + 0.5}, pixel(x, y));
      if (found(from, at)) return at;
    }
    // Nothing of the output shows it: it lies as far from the nearest position that is shown as there.
    const Position shown = around(at).from;
    return {at.x + from.x - shown.x, at.y + from.y - shown.y};
  }

 private:
  struct Node {
    Position at, from;
  };
  struct Slopes {  // a position of the output: where it comes from, and how that changes along x and y
    Position from, along_x{1, 0}, along_y{0, 1};
  };

  static constexpr int64_t kGrid = 16;
  static constexpr int kMostSteps = 50, kMostSearches = 32;
  static double distance(Position a, Position b) { return std::hypot(a.x - b.x, a.y - b.y); }

  Position pixel(int64_t x, int64_t y) const {
    const Place<2> from = map_(Place<2>{{static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f}});
    return {from[0], from[1]};
  }

  Slopes around(Position at) const {
    double inside[2] = {at.x - 0.5, at.y - 0.5}, part[2];
    int64_t first[2], second[2];
    bool varies[2];
    for (int axis : {0, 1}) {
      const double last = static_cast<double>(size_[axis] - 1), clamped = std::clamp(inside[axis], 0.0, last);
      varies[axis] = clamped == inside[axis] && last > 0;
      first[axis] = std::min(static_cast<int64_t>(clamped), std::max<int64_t>(size_[axis] - 2, 0));
      second[axis] = std::min(first[axis] + 1, size_[axis] - 1);
      part[axis] = clamped - static_cast<double>(first[axis]);
      inside[axis] -= clamped;
    }
    const Position a = pixel(first[0], first[1]), b = pixel(second[0], first[1]), c = pixel(first[0], second[1]),
                   d = pixel(second[0], second[1]);
    auto mixed = [&](double Position::* k, double x, double y) {
      return (1 - y) * ((1 - x) * (a.*k) + x * (b.*k)) + y * ((1 - x) * (c.*k) + x * (d.*k));
    };
    Slopes found;
    found.from = {mixed(&Position::x, part[0], part[1]) + inside[0], mixed(&Position::y, part[0], part[1]) + inside[1]};
    auto slope = [&](double Position::* k, int axis) {
      return axis ? mixed(k, part[0], 1) - mixed(k, part[0], 0) : mixed(k, 1, part[1]) - mixed(k, 0, part[1]);
    };
    if (varies[0]) found.along_x = {slope(&Position::x, 0), slope(&Position::y, 0)};
    if (varies[1]) found.along_y = {slope(&Position::x, 1), slope(&Position::y, 1)};
    return found;
  }

  // Newton's method from `at` on, with shorter steps where a whole one leads away.
  bool found(Position from, Position& at) const {
    Slopes here = around(at);
    double apart = distance(here.from, from);
    for (int i = 0; i < kMostSteps && apart > 1e-4; i++) {
      const double det = here.along_x.x * here.along_y.y - here.along_y.x * here.along_x.y;
      const double x = from.x - here.from.x, y = from.y - here.from.y;
      const Position step{(here.along_y.y * x - here.along_y.x * y) / det,
                          (here.along_x.x * y - here.along_x.y * x) / det};
      bool closer = false;
      for (double part = 1; part > 1.0 / 256 && !closer; part /= 2) {
        const Position next{at.x + part * step.x, at.y + part * step.y};
        if (!(std::fabs(next.x) < kBeyond && std::fabs(next.y) < kBeyond)) continue;
        const Slopes there = around(next);
        const double left = distance(there.from, from);
        closer = left < apart;
        if (closer) at = next, here = there, apart = left;
      }
      if (!closer) break;
    }
    return apart < 0.01;
  }

  const Map map_;
  const int64_t size_[2];
  std::vector<Node> nodes_;
  mutable int searches_ = 0;  // of all pixels, which take long
};

// Into how many parts the sides of a box are taken, as they are bent.
inline int parts_of_sides(const float* box) {
  const float longest = std::max(box[2] - box[0], box[3] - box[1]);
  return longest < 256 ? std::max(1, static_cast<int>(longest / 4)) : 64;
}

// Calls add(x, y) for positions on the sides of a box, in a walk around it.
template <class Add>
void walk_around(const float* box, const Add& add) {
  const int parts = parts_of_sides(box);
  constexpr int kSides[4][4] = {{0, 1, 2, 1}, {2, 1, 2, 3}, {2, 3, 0, 3}, {0, 3, 0, 1}};
  for (const auto& side : kSides) {
    const auto [x0, y0, x1, y1] = side;
    for (int i = 0; i < parts; i++) {
      const double part = static_cast<double>(i) / parts;
      add(box[x0] + part * (static_cast<double>(box[x1]) - box[x0]),
          box[y0] + part * (static_cast<double>(box[y1]) - box[y0]));
    }
  }
}

struct BentBoxes {
  static constexpr const char* name = "boxes";

  static void check(const SampleView& rows) { check_rows(rows, 4, "boxes"); }
  template <class Map>
  static void move(const Bend<Map>& bend, const SampleView& rows, const SampleView& masks, float* out) {
    std::optional<ObjectMasks> known;
    if (masks.data) known.emplace(masks);
    for (int64_t i = 0; i < rows.shape[0]; i++) {
      const float* box = rows.as<float>() + 4 * i;
      Around around;
      std::optional<Position> near;
      auto add = [&](double x, double y) {
        near = bend.moved({x, y}, near);
        around.add(*near);
      };
      if (known && has_all_of(*known, i, box)) known->each_side(i, add);
      if (!(around.left <= around.right)) walk_around(box, add);
      around.store(out + 4 * i);
    }
  }
};

struct BentPoints {
  static constexpr const char* name = "points";

  static void check(const SampleView& rows) {
    if (rows.ndim() < 2 || rows.shape[rows.ndim() - 1] < 2)
      refuse("expected points as rows of at least two numbers, got the shape ", rows.shape);
  }
  template <class Mover>
  static void move(const Mover& bend, const SampleView& rows, const SampleView&, float* out) {
    const int64_t step = rows.shape[rows.ndim() - 1];
    const auto* in = rows.as<float>();
    std::optional<Position> near;
    for (int64_t i = 0; i < rows.elements(); i += step) {
      const Position at = bend.moved({in[i], in[i + 1]}, near);
      if (!std::isnan(at.x)) near = at;
      out[i] = static_cast<float>(at.x);
      out[i + 1] = static_cast<float>(at.y);
      std::copy(in + i + 2, in + i + step, out + i + 2);
    }
  }
};

// The least rectangle around the bent one that has the mean direction of one pair of its sides.
struct BentRotated {
  static constexpr const char* name = "rotated";

  static void check(const SampleView& rows) { check_rows(rows, 5, "rotated boxes"); }
  template <class Map>
  static void move(const Bend<Map>& bend, const SampleView& rows, const SampleView&, float* out) {
    for (int64_t i = 0; i < rows.shape[0]; i++) move(bend, rows.as<float>() + 5 * i, out + 5 * i);
  }

 private:
  template <class Map>
  static void move(const Bend<Map>& bend, const float* from, float* to) {
    const double angle = from[4] * (M_PI / 180), c = std::cos(angle), s = std::sin(angle);
    const float box[] = {-from[2] / 2, -from[3] / 2, from[2] / 2, from[3] / 2};
    std::vector<Position> outline;
    std::optional<Position> near;
    walk_around(box, [&](double x, double y) {
      near = bend.moved({from[0] + x * c + y * s, from[1] - x * s + y * c}, near);
      outline.push_back(*near);
    });
    auto corner = [&](int k) { return outline[static_cast<size_t>(k * parts_of_sides(box))]; };
    const Position a = corner(0), b = corner(1), d = corner(2), e = corner(3);
    const double width = std::atan2(b.y - a.y + d.y - e.y, b.x - a.x + d.x - e.x);
    const double height = std::atan2(e.y - a.y + d.y - b.y, e.x - a.x + d.x - b.x);
    std::copy_n(from, 5, to);  // which stays where numbers are missing
    double least = INFINITY;
    for (double direction : {width, height - M_PI / 2}) {
      const double right[] = {std::cos(direction), std::sin(direction)};
      Around around;
      for (const Position& at : outline)
        around.add({at.x * right[0] + at.y * right[1], at.y * right[0] - at.x * right[1]});
      const double extents[] = {around.right - around.left, around.bottom - around.top};
      if (!(extents[0] * extents[1] < least)) continue;
      least = extents[0] * extents[1];
      const double x = (around.left + around.right) / 2, y = (around.top + around.bottom) / 2;
      const double made[] = {x * right[0] - y * right[1], y * right[0] + x * right[1], extents[0], extents[1],
                             -direction * (180 / M_PI)};
      for (int k = 0; k < 5; k++) to[k] = static_cast<float>(made[k]);
    }
  }
};

template <class Parameters, class Kind, class Args>
class BendPlan {
 public:
  explicit BendPlan(const Sample<Args>& sample) : parameters_(sample) { Kind::check(sample.in[sample.in.size() - 2]); }

  void shape(Sample<Args>& sample) const { sample.out[0].shape = sample.in[sample.in.size() - 2].shape; }
  void run(const Sample<Args>& sample) const {
    const SampleView &image = sample.in[0], &rows = sample.in[sample.in.size() - 2], &masks = sample.in.back();
    auto* out = sample.out[0].template as<float>();
    if constexpr (requires { parameters_.moves; })
      if (!parameters_.moves) {
        std::copy_n(rows.as<float>(), rows.elements(), out);
        return;
      }
    Shape extents = image.shape;
    if constexpr (requires { parameters_.shape(); }) extents = parameters_.shape();
    const auto map = [&] {
      if constexpr (requires { parameters_.map(sample); })
        return parameters_.map(sample);
      else
        return parameters_.map;
    }();
    const auto extent = [&](int axis) { return extents[std::max(0, axis_of(image, axis))]; };
    Kind::move(Bend(map, extent(0), extent(1)), rows, masks, out);
  }

 private:
  const Parameters parameters_;
};

template <class Plan, class Kind, class Args>
void declare_bend(std::string_view name, void (*fill)(Op<Args>&)) {
  Op<Args> op(str("scenes.", Kind::name, ".", name));
  fill(op);
  op.input("rows", "Annotations.").optional_input("masks", "The masks of the objects, for tight boxes.");
  OpSpec& spec = op.spec;
  spec.infer = [infer = std::move(spec.infer)](Inference& call) {
    infer(call);
    const Meta& rows = call.in[call.in.size() - 2];
    check_annotations(rows, "annotations");
    check_masks(call.in.back());
    call.out.resize(1);
    call.out[0].dtype = DType::float32;
    call.out[0].ndim = rows.ndim;
    call.out[0].layout = {};
  };
  spec.outputs = 1;
  spec.count_outputs = nullptr;
  spec.gpu_run = nullptr;
  spec.chains = spec.per_frame = false;
  op.loop({}).on_cpu().hidden().template each_sample<Plan>().cost(64);
  register_op(std::move(spec));
}

template <class Parameters, class Args>
int declare_bends(std::string_view name, void (*fill)(Op<Args>&)) {
  declare_bend<BendPlan<Parameters, BentBoxes, Args>, BentBoxes>(name, fill);
  declare_bend<BendPlan<Parameters, BentPoints, Args>, BentPoints>(name, fill);
  declare_bend<BendPlan<Parameters, BentRotated, Args>, BentRotated>(name, fill);
  return 0;
}

#define AVIDA_BENDS_IN(MODULE, NAME, ARGS, PARAMETERS) \
  [[maybe_unused]] static const int bends_##NAME =     \
      declare_bends<PARAMETERS, ARGS>(#MODULE "." #NAME, declare_##MODULE##_##NAME);
#define AVIDA_BENDS(NAME, ARGS, PARAMETERS) \
  [[maybe_unused]] static const int bends_##NAME = declare_bends<PARAMETERS, ARGS>(#NAME, declare_##NAME);

}  // namespace avida::ops
