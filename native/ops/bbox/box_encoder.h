// The bodies of box_encoder: boxes matched with anchors. Read by NVRTC too: no std headers.
#pragma once
#include "device/math.h"

namespace avida::ops {

// Boxes are left, top, right, bottom.
AVIDA_HD AVIDA_INLINE float box_area(const float* box) { return (box[2] - box[0]) * (box[3] - box[1]); }

// The intersection of two boxes divided by their union (IoU).
AVIDA_HD AVIDA_INLINE float box_overlap(const float* a, const float* b) {
  const float width = (b[2] < a[2] ? b[2] : a[2]) - (a[0] < b[0] ? b[0] : a[0]);
  const float height = (b[3] < a[3] ? b[3] : a[3]) - (a[1] < b[1] ? b[1] : a[1]);
  if (!(width > 0 && height > 0)) return 0;
  return width * height / (box_area(a) + box_area(b) - width * height);
}

// The encoding of a box: its centre and extents, or (`offset`) how these differ from an anchor's.
struct BoxCode {
  bool offset;
  float scale, means[4], stds[4];

  AVIDA_HD AVIDA_INLINE void encode(const float* box, const float* anchor, float* out) const {
    for (int d = 0; d < 2; d++) {
      const float center = 0.5f * (box[d] + box[d + 2]), extent = box[d + 2] - box[d];
      out[d] = center;
      out[d + 2] = extent;
      if (!offset) continue;
      const float anchor_center = 0.5f * (anchor[d] + anchor[d + 2]);
      const float anchor_extent = (anchor[d + 2] - anchor[d]) * scale;
      const float shift = (center * scale - anchor_center * scale) / anchor_extent;
      out[d] = (shift - means[d]) / stds[d];
      out[d + 2] = (math::log(extent * scale / anchor_extent) - means[d + 2]) / stds[d + 2];
    }
  }
};

// Each item is a box, which gets the anchor of the greatest IoU, the last one of several.
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

// Each item is an anchor, which gets the last box whose best anchor it is, else the box of the greatest IoU, else none.
struct EncodeAnchor {
  static constexpr const char* header = "ops/bbox/box_encoder.h";
  struct Params {
    float* out;
    int* out_labels;
    const float *boxes, *anchors;
    const int* labels;
    const long* best;  // the anchor of each box
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

  // The code of an anchor that is matched with box `found`, or (-1) with none.
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
