#include "ops/bbox/bbox_paste.h"

#include "op/each_item.h"
#include "ops/bbox/bbox.h"

namespace avida::ops {
namespace {

struct BboxPasteArgs {
  bool ltrb = false;
  float paste_x = 0.5f, paste_y = 0.5f, ratio = 1;
};

}  // namespace

AVIDA_OP(bbox_paste, BboxPasteArgs) {
  using Args = BboxPasteArgs;
  op.doc("Moves bounding boxes, in shares of the image's extents, to where paste() puts the image on its canvas.")
      .input("input", "The boxes: left, top, width, height each, or left, top, right, bottom.")
      .arg("ltrb", &Args::ltrb, "Boxes end with right and bottom, not with width and height.", fixed)
      .arg("paste_x", &Args::paste_x, "Where the image is: 0 at the left, 1 at the right.")
      .arg("paste_y", &Args::paste_y, "Where the image is: 0 at the top, 1 at the bottom.")
      .arg("ratio", &Args::ratio, "How many times as high and wide as the image the canvas is.", required)
      .example("avida.bbox_paste(np.float32([[0.1, 0.2, 0.3, 0.4]]), ratio=2)")
      .infer(infer_boxes)
      .each_sample(boxes_shape,
                   [](const Sample<Args>& sample) {
                     const Args& args = sample.args;
                     if (!(args.ratio > 0))
                       fail(ErrorKind::runtime, "expected a \"ratio\" of more than 0, got ", args.ratio);
                     const float scale = 1 / args.ratio, margin = 1 - scale;
                     // The image stays on its canvas.
                     auto offset = [&](float place) { return std::min(std::max(margin * place, 0.0f), margin); };
                     each_item<BboxPaste>(sample, 0, sample.in[0].elements(),
                                          {sample.out[0].as<float>(),
                                           sample.in[0].as<float>(),
                                           scale,
                                           {offset(args.paste_x), offset(args.paste_y)},
                                           args.ltrb});
                   })
      .on_gpu();
}

}  // namespace avida::ops
