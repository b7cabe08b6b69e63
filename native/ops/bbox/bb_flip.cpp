#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

struct BbFlipArgs {
  int horizontal = 1;
  bool ltrb = false;
  int vertical = 0;
};

// Along one axis, the start and end of a box (or its start and extent) change places around 0.5.
void flip_axis(float& start, float& second, bool ends) {
  if (ends) {
    const float end = 1.0f - start;
    start = 1.0f - second;
    second = end;
  } else {
    const float end = start + second;
    start = 1.0f - end;
  }
}

}  // namespace

AVIDA_OP(bb_flip, BbFlipArgs) {
  op.doc("Mirrors bounding boxes whose coordinates are shares of the image's extents.")
      .input("input", "The boxes: left, top, width, height each, or left, top, right, bottom.")
      .arg("horizontal", &BbFlipArgs::horizontal, "Mirror left to right.")
      .arg("ltrb", &BbFlipArgs::ltrb, "Boxes end with right and bottom, not with width and height.", fixed)
      .arg("vertical", &BbFlipArgs::vertical, "Mirror top to bottom.")
      .example("avida.bb_flip(np.float32([[0.1, 0.2, 0.3, 0.4]]))")
      .infer(infer_boxes)
      .each_sample(boxes_shape, [](const Sample<BbFlipArgs>& sample) {
        const BbFlipArgs& args = sample.args;
        const float* in = sample.in[0].as<float>();
        float* out = sample.out[0].as<float>();
        for (int64_t i = 0; i < sample.in[0].elements(); i += 4) {
          float box[4] = {in[i], in[i + 1], in[i + 2], in[i + 3]};
          if (args.horizontal) flip_axis(box[0], box[2], args.ltrb);
          if (args.vertical) flip_axis(box[1], box[3], args.ltrb);
          std::copy_n(box, 4, out + i);
        }
      });
}

}  // namespace avida::ops
