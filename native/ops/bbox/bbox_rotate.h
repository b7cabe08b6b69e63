// Boxes turned with their image. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/math.h"

namespace avida::ops {

struct BoxSize {
  double width, height;
};

// An image turned around its middle.
struct BoxTurn {
  double cos, sin;
  BoxSize before, after;  // the extents of the image

  // Whether what was wide comes to be high.
  AVIDA_HD AVIDA_INLINE bool sideways() const {
    return math::fabs(static_cast<float>(sin)) >= math::fabs(static_cast<float>(cos));
  }
  // The extents of the upright box around a turned one.
  AVIDA_HD AVIDA_INLINE BoxSize enclosing(BoxSize box) const {
    const double c = math::fabs(cos), s = math::fabs(sin);
    return {c * box.width + s * box.height, s * box.width + c * box.height};
  }
  // Where a point of the image comes to lie.
  AVIDA_HD AVIDA_INLINE void move(double& x, double& y) const {
    const double from_x = x - before.width / 2, from_y = y - before.height / 2;
    x = cos * from_x + sin * from_y + after.width / 2;
    y = cos * from_y - sin * from_x + after.height / 2;
  }
};

// An item is a box.
struct BboxRotate {
  static constexpr const char* header = "ops/bbox/bbox_rotate.h";
  struct Params {
    float* out;
    const float* in;
    bool* kept;  // false where too little of a box is left
    BoxTurn turn;
    bool ends, normalized;  // xyXY and not xyWH; in shares of the image's extents
    double share;           // of what the box around a turned one has more than the box before
    float remove_threshold;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long i) {
    params.kept[i] = rotate(params, params.in + 4 * i, params.out + 4 * i);
  }

  AVIDA_HD AVIDA_INLINE static bool rotate(const Params& params, const float* in, float* out) {
    const BoxTurn& turn = params.turn;
    const bool ends = params.ends;
    const BoxSize from = params.normalized ? turn.before : BoxSize{1, 1};
    const BoxSize to = params.normalized ? turn.after : BoxSize{1, 1};
    const BoxSize size{(in[2] - (ends ? in[0] : 0.0f)) * from.width, (in[3] - (ends ? in[1] : 0.0f)) * from.height};
    double x = in[0] * from.width + size.width / 2, y = in[1] * from.height + size.height / 2;
    turn.move(x, y);
    const BoxSize around = turn.enclosing(size);
    const BoxSize kept = turn.sideways() ? BoxSize{size.height, size.width} : size;
    const double width = kept.width + (around.width - kept.width) * params.share;
    const double height = kept.height + (around.height - kept.height) * params.share;
    const double left = inside(x - width / 2, turn.after.width), right = inside(x + width / 2, turn.after.width);
    const double top = inside(y - height / 2, turn.after.height), bottom = inside(y + height / 2, turn.after.height);
    out[0] = static_cast<float>(left / to.width);
    out[1] = static_cast<float>(top / to.height);
    out[2] = static_cast<float>((ends ? right : right - left) / to.width);
    out[3] = static_cast<float>((ends ? bottom : bottom - top) / to.height);
    return (right - left) * (bottom - top) >= params.remove_threshold * width * height;
  }

 private:
  AVIDA_HD AVIDA_INLINE static double inside(double place, double extent) {
    return place < 0 ? 0 : extent < place ? extent : place;
  }
};

}  // namespace avida::ops
