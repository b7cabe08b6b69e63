// Boxes matched with anchors. Read by NVRTC too: no std headers.
#pragma once
#include "kernel/math.h"

namespace avida::ops {

// Boxes are left, top, right, bottom.
AVIDA_HD AVIDA_INLINE float box_area(const float* box) { return (box[2] - box[0]) * (box[3] - box[1]); }

// The area that two boxes share, as a part of all that they cover.
AVIDA_HD AVIDA_INLINE float box_overlap(const float* a, const float* b) {
  const float width = (b[2] < a[2] ? b[2] : a[2]) - (a[0] < b[0] ? b[0] : a[0]);
  const float height = (b[3] < a[3] ? b[3] : a[3]) - (a[1] < b[1] ? b[1] : a[1]);
  if (!(width > 0 && height > 0)) return 0;
  return width * height / (box_area(a) + box_area(b) - width * height);
}

// How boxes are given: by their middle and extent, or (`offset`) by how these differ from an anchor's.
struct BoxCode {
  bool offset;
  float scale, means[4], stds[4];

  AVIDA_HD AVIDA_INLINE void encode(const float* box, const float* anchor, float* out) const {
    for (int d = 0; d < 2; d++) {
      const float middle = 0.5f * (box[d] + box[d + 2]), extent = box[d + 2] - box[d];
      out[d] = middle;
      out[d + 2] = extent;
      if (!offset) continue;
      const float anchor_middle = 0.5f * (anchor[d] + anchor[d + 2]);
      const float anchor_extent = (anchor[d + 2] - anchor[d]) * scale;
      const float shift = (middle * scale - anchor_middle * scale) / anchor_extent;
      out[d] = (shift - means[d]) / stds[d];
      out[d + 2] = (math::log(extent * scale / anchor_extent) - means[d + 2]) / stds[d + 2];
    }
  }
};

// An item is a box, which gets the anchor that it shares most with, the last of several.
struct BestAnchor {
  static constexpr const char* header = "ops/bbox/box_encoder.h";
  struct Params {
    long* best;
    const float *boxes, *anchors;
    long anchor_count;
  };

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long box) {
    long best = 0;
    float most = -1;
    for (long a = 0; a < params.anchor_count; a++) {
      const float shared = box_overlap(params.boxes + 4 * box, params.anchors + 4 * a);
      if (shared >= most) most = shared, best = a;
    }
    params.best[box] = best;
  }
};

// An item is an anchor: the last box whose best anchor it is, else the one that it shares most with, else none.
struct EncodeAnchor {
  static constexpr const char* header = "ops/bbox/box_encoder.h";
  struct Params {
    float* out;
    int* out_labels;
    const float *boxes, *anchors;
    const int* labels;
    const long* best;  // of each box
    long box_count;
    float criteria;
    BoxCode code;
  };

  AVIDA_HD AVIDA_INLINE static long match(const Params& params, long anchor) {
    for (long b = params.box_count - 1; b >= 0; b--)
      if (params.best[b] == anchor) return b;
    long found = -1;
    float most = params.criteria;
    for (long b = 0; b < params.box_count; b++) {
      const float shared = box_overlap(params.boxes + 4 * b, params.anchors + 4 * anchor);
      if (shared > most) most = shared, found = b;
    }
    return found;
  }

  AVIDA_HD AVIDA_INLINE static void run(const Params& params, long anchor) {
    write(params, anchor, match(params, anchor));
  }

  // What an anchor gets that stands for box `found`, or (-1) for none.
  AVIDA_HD AVIDA_INLINE static void write(const Params& params, long anchor, long found) {
    const float* own = params.anchors + 4 * anchor;
    float* out = params.out + 4 * anchor;
    params.out_labels[anchor] = found < 0 ? 0 : params.labels[found];
    if (found >= 0 || !params.code.offset) {
      params.code.encode(found >= 0 ? params.boxes + 4 * found : own, own, out);
    } else {
      for (int k = 0; k < 4; k++) out[k] = 0;
    }
  }
};

}  // namespace avida::ops
