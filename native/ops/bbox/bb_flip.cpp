#include "ops/bbox/bb_flip.h"

#include "loops/items/each_item.h"
#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

struct BbFlipArgs {
  int horizontal = 1;
  bool ltrb = false;
  int vertical = 0;
};

struct FlipBoxesPlan : BoxesPlan {
  static void run(const Sample<BbFlipArgs>& sample) {
    const BbFlipArgs& args = sample.args;
    check_fractions(sample, kDivideBoxes);
    each_item<BbFlip>(
        sample, 0, sample.in[0].elements() / 4,
        {sample.out[0].as<float>(), sample.in[0].as<float>(), args.horizontal != 0, args.vertical != 0, args.ltrb});
  }
};

}  // namespace

AVIDA_OP(bb_flip, BbFlipArgs) {
  op.doc("Mirrors bounding boxes, as flip() mirrors their image.")
      .input("input", kBoxesText)
      .arg("horizontal", &BbFlipArgs::horizontal, "Whether to mirror left to right.")
      .arg("ltrb", &BbFlipArgs::ltrb, kLtrbText, fixed)
      .arg("vertical", &BbFlipArgs::vertical, "Whether to mirror top to bottom.")
      .example("avida.bb_flip(np.float32([[0.1, 0.2, 0.3, 0.4]]))")
      .infer(infer_boxes)
      .each_sample<FlipBoxesPlan>();
}

}  // namespace avida::ops
