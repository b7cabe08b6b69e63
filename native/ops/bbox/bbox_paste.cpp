#include "ops/bbox/bbox_paste.h"

#include "loops/items/each_item.h"
#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

struct BboxPasteArgs {
  bool ltrb = false;
  float paste_x = 0.5f, paste_y = 0.5f, ratio = 1;
};

struct PasteBoxesPlan : BoxesPlan {
  static void run(const Sample<BboxPasteArgs>& sample) {
    const BboxPasteArgs& args = sample.args;
    check_fractions(sample, kDivideBoxes);
    if (!(args.ratio > 0)) refuse("expected a \"ratio\" of more than 0, got ", args.ratio);
    const float scale = 1 / args.ratio, margin = 1 - scale;
    // The image stays on its canvas.
    auto offset = [&](float position) { return std::min(std::max(margin * position, 0.0f), margin); };
    each_item<BboxPaste>(sample, 0, sample.in[0].elements(),
                         {sample.out[0].as<float>(),
                          sample.in[0].as<float>(),
                          scale,
                          {offset(args.paste_x), offset(args.paste_y)},
                          args.ltrb});
  }
};

}  // namespace

AVIDA_OP(bbox_paste, BboxPasteArgs) {
  using Args = BboxPasteArgs;
  op.doc("Moves bounding boxes to where paste() puts their image on the canvas.")
      .input("input", kBoxesText)
      .arg("ltrb", &Args::ltrb, kLtrbText, fixed)
      .arg("paste_x", &Args::paste_x, "The horizontal position of the image on the canvas, from 0 (left) to 1 (right).")
      .arg("paste_y", &Args::paste_y, "The vertical position of the image on the canvas, from 0 (top) to 1 (bottom).")
      .arg("ratio", &Args::ratio, "The extents of the canvas divided by those of the image.", required)
      .example("avida.bbox_paste(np.float32([[0.1, 0.2, 0.3, 0.4]]), ratio=2)")
      .infer(infer_boxes)
      .each_sample<PasteBoxesPlan>();
}

}  // namespace avida::ops
