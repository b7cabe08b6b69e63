// The masks of the objects of an image: dense ones, polygons or run lengths, and what is visible of them.
#pragma once
#include "ops/scenes/annotations.h"

namespace avida::ops {

// A convex area cuts polygons at its borders, one after the other.
class Polygon {
 public:
  std::vector<Position> corners;

  template <class Distance>  // positive inside
  void cut(const Distance& distance) {
    std::vector<Position> inside;
    for (size_t i = 0; i < corners.size(); i++) {
      const Position &a = corners[i], &b = corners[(i + 1) % corners.size()];
      const double from = distance(a), to = distance(b);
      if (from >= 0) inside.push_back(a);
      if ((from >= 0) == (to >= 0)) continue;
      const double part = from / (from - to);
      inside.push_back({a.x + part * (b.x - a.x), a.y + part * (b.y - a.y)});
    }
    corners = std::move(inside);
  }
  void cut_to(double width, double height) {
    cut([](const Position& at) { return at.x; });
    cut([](const Position& at) { return at.y; });
    cut([&](const Position& at) { return width - at.x; });
    cut([&](const Position& at) { return height - at.y; });
  }
  double area() const {
    double sum = 0;
    for (size_t i = 0; i < corners.size(); i++) {
      const Position &a = corners[i], &b = corners[(i + 1) % corners.size()];
      sum += a.x * b.y - b.x * a.y;
    }
    return std::fabs(sum) / 2;
  }
};

constexpr double kLongestPart = 4;       // pixels of a line that is moved by its ends
constexpr int64_t kMostParts = 1 << 10;  // of a line

// Calls fn with positions from one to before another.
template <class Fn>
void each_part(const Position& from, const Position& to, const Fn& fn) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const int64_t parts = std::clamp<int64_t>(std::llround(std::min(length, 1e9) / kLongestPart), 1, kMostParts);
  for (int64_t k = 0; k < parts; k++) {
    const double part = static_cast<double>(k) / static_cast<double>(parts);
    fn(Position{from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)});
  }
}

// The part of an object that is visible, in pixels.
struct Visible {
  double pixels = 0, whole = 0;  // whole: as far as the mask knows
  Around around;
};

// Of each object, by their element type:
//   uint8, H x W     a number for each pixel, 0 outside of the object
//   float32, L x 2   corners of polygons; a corner of NaN ends one, and more of them fill the row
//   uint32, 2 + R    height, width, and the lengths of runs, column by column, that lie outside and inside in turn
class ObjectMasks {
 public:
  explicit ObjectMasks(const SampleView& masks) : masks_(masks) {
    const int axes = masks.dtype == DType::uint32 ? 2 : 3;
    if (masks.ndim() != axes || (has_polygons() && masks.shape[2] != 2) || (has_runs() && masks.shape[1] < 2))
      refuse("expected a mask for each object, got the shape ", masks.shape, " of ", masks.dtype);
  }

  bool has_polygons() const { return masks_.dtype == DType::float32; }
  bool has_runs() const { return masks_.dtype == DType::uint32; }
  bool is_dense() const { return !has_polygons() && !has_runs(); }
  int64_t objects() const { return masks_.shape[0]; }

  // The extents of dense masks and run lengths, from which nothing beyond them is known.
  Position extents(int64_t object) const {
    if (has_runs()) {
      const uint32_t* row = runs(object);
      return {static_cast<double>(row[1]), static_cast<double>(row[0])};
    }
    return {static_cast<double>(masks_.shape[2]), static_cast<double>(masks_.shape[1])};
  }

  // Positions among which are all corners of the least convex area around the object.
  template <class Fn>
  void each_end(int64_t object, const Fn& fn) const {
    if (has_polygons()) {
      for (const float* at : corners(object)) fn(static_cast<double>(at[0]), static_cast<double>(at[1]));
    } else if (has_runs()) {
      each_column(object, [&](int64_t x, int64_t begin, int64_t end) {
        for (int64_t y : {begin, end})
          for (int64_t side : {x, x + 1}) fn(static_cast<double>(side), static_cast<double>(y));
      });
    } else {
      each_row(object, [&](int64_t y, int64_t begin, int64_t end, int64_t) {
        for (int64_t x : {begin, end})
          for (int64_t side : {y, y + 1}) fn(static_cast<double>(x), static_cast<double>(side));
      });
    }
  }

  // Positions all along the outermost lines of the object, which may be bent.
  template <class Fn>
  void each_side(int64_t object, const Fn& fn) const {
    if (has_polygons()) {
      each_polygon(object, [&](Polygon& polygon) {
        for (size_t i = 0; i < polygon.corners.size(); i++)
          each_part(polygon.corners[i], polygon.corners[(i + 1) % polygon.corners.size()],
                    [&](const Position& at) { fn(at.x, at.y); });
      });
      return;
    }
    const Position size = extents(object);
    Ends rows(static_cast<int64_t>(size.y)), columns(static_cast<int64_t>(size.x));
    if (has_runs())
      each_column(object, [&](int64_t x, int64_t begin, int64_t end) {
        columns.add(x, begin, end);
        for (int64_t y = begin; y < end; y++) rows.add(y, x, x + 1);
      });
    else
      each_row(object, [&](int64_t y, int64_t begin, int64_t end, int64_t) {
        rows.add(y, begin, end);
        const auto* mask = masks_.as<uint8_t>() + (object * masks_.shape[1] + y) * masks_.shape[2];
        for (int64_t x = begin; x < end; x++)
          if (mask[x]) columns.add(x, y, y + 1);
      });
    rows.each([&](double y, double x) { fn(x, y); });
    columns.each([&](double x, double y) { fn(x, y); });
  }

  Visible visible(int64_t object, double width, double height) const {
    Visible visible;
    auto add = [&](int64_t left, int64_t top, int64_t right, int64_t bottom, int64_t pixels) {
      visible.pixels += static_cast<double>(pixels);
      visible.around.add({static_cast<double>(left), static_cast<double>(top)});
      visible.around.add({static_cast<double>(right), static_cast<double>(bottom)});
    };
    if (has_runs()) {
      each_column(object, [&](int64_t x, int64_t begin, int64_t end) { add(x, begin, x + 1, end, end - begin); });
    } else if (is_dense()) {
      each_row(object, [&](int64_t y, int64_t begin, int64_t end, int64_t n) { add(begin, y, end, y + 1, n); });
    } else {
      each_polygon(object, [&](Polygon& polygon) {
        visible.whole += polygon.area();
        polygon.cut_to(width, height);
        visible.pixels += polygon.area();
        for (const Position& at : polygon.corners) visible.around.add(at);
      });
      return visible;
    }
    visible.whole = visible.pixels;
    return visible;
  }

  template <class Fn>
  void each_polygon(int64_t object, const Fn& fn) const {
    Polygon polygon;
    const float* row = masks_.as<float>() + object * masks_.shape[1] * 2;
    for (int64_t i = 0; i <= masks_.shape[1]; i++) {
      if (i < masks_.shape[1] && is_corner(row + 2 * i)) {
        polygon.corners.push_back({row[2 * i], row[2 * i + 1]});
      } else if (!polygon.corners.empty()) {
        fn(polygon);
        polygon.corners.clear();
      }
    }
  }

  // What of a column belongs to the object.
  template <class Fn>
  void each_column(int64_t object, const Fn& fn) const {
    const uint32_t* row = runs(object);
    const int64_t height = row[0], pixels = height * row[1];
    int64_t at = 0;
    for (int64_t i = 2; i < masks_.shape[1]; i++) {
      const int64_t end = std::min(at + row[i], pixels);
      for (; i % 2 && at < end;) {
        const int64_t x = at / height, bottom = std::min(end, (x + 1) * height);
        fn(x, at - x * height, bottom - x * height);
        at = bottom;
      }
      at = end;
    }
  }

 private:
  static bool is_corner(const float* at) { return !std::isnan(at[0]) && !std::isnan(at[1]); }
  const uint32_t* runs(int64_t object) const { return masks_.as<uint32_t>() + object * masks_.shape[1]; }

  std::vector<const float*> corners(int64_t object) const {
    std::vector<const float*> found;
    const float* at = masks_.as<float>() + object * masks_.shape[1] * 2;
    for (int64_t i = 0; i < masks_.shape[1]; i++, at += 2)
      if (is_corner(at)) found.push_back(at);
    return found;
  }

  // From the first to behind the last pixel of each row of a dense mask, and how many there are.
  template <class Fn>
  void each_row(int64_t object, const Fn& fn) const {
    const int64_t height = masks_.shape[1], width = masks_.shape[2];
    const auto* mask = masks_.as<uint8_t>() + object * height * width;
    for (int64_t y = 0; y < height; y++, mask += width) {
      const uint8_t* end = mask + width;
      const uint8_t* first = std::find_if(mask, end, [](uint8_t pixel) { return pixel != 0; });
      if (first == end) continue;
      while (!end[-1]) end--;
      fn(y, first - mask, end - mask, std::count_if(first, end, [](uint8_t pixel) { return pixel != 0; }));
    }
  }

  // Where the object begins and ends in each row or column.
  struct Ends {
    std::vector<std::pair<int64_t, int64_t>> lines;

    explicit Ends(int64_t count) : lines(static_cast<size_t>(count), {INT64_MAX, INT64_MIN}) {}
    void add(int64_t line, int64_t begin, int64_t end) {
      auto& [first, last] = lines[static_cast<size_t>(line)];
      first = std::min(first, begin), last = std::max(last, end);
    }
    // One end after the other, so that each lies near the one before.
    template <class Fn>
    void each(const Fn& fn) const {
      for (int side : {0, 1})
        for (size_t i = 0; i < lines.size(); i++)
          for (size_t edge = i; lines[i].first < lines[i].second && edge < i + 2; edge++)
            fn(static_cast<double>(edge), static_cast<double>(side ? lines[i].second : lines[i].first));
    }
  };

  const SampleView& masks_;
};

inline void check_masks(const Meta& masks) {
  const bool known = masks.dtype == DType::none || masks.dtype == DType::uint8 || masks.dtype == DType::float32 ||
                     masks.dtype == DType::uint32;
  if (!known) refuse("expected masks of uint8, polygons of float32 or run lengths of uint32, got ", masks.dtype);
}

// Whether the masks know all of an object that has this box: what they do not know lies beyond their borders.
inline bool has_all_of(const ObjectMasks& masks, int64_t object, const float* box) {
  if (masks.has_polygons()) return true;
  const Position extents = masks.extents(object);
  return box[0] >= 0 && box[1] >= 0 && box[2] <= extents.x && box[3] <= extents.y;
}

}  // namespace avida::ops
