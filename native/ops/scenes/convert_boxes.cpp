// scenes.convert_boxes: from the numbers that users have for a box to corners in pixels, and back.
#include "ops/scenes/annotations.h"

namespace avida::ops {
namespace {

enum class BoxNumbers { corners, extents, centre };
AVIDA_CHOICES(BoxNumbers, "xyxy", "xywh", "cxcywh")

struct ConvertBoxesArgs {
  BoxNumbers from = BoxNumbers::corners, to = BoxNumbers::corners;
  bool from_relative = false, to_relative = false;
};

void to_corners(BoxNumbers from, float (&box)[4]) {
  for (int i : {0, 1}) {
    if (from == BoxNumbers::centre) box[i] -= box[i + 2] / 2;
    if (from != BoxNumbers::corners) box[i + 2] += box[i];
  }
}
void from_corners(BoxNumbers to, float (&box)[4]) {
  for (int i : {0, 1}) {
    if (to != BoxNumbers::corners) box[i + 2] -= box[i];
    if (to == BoxNumbers::centre) box[i] += box[i + 2] / 2;
  }
}

class ConvertBoxesPlan {
 public:
  explicit ConvertBoxesPlan(const Sample<ConvertBoxesArgs>& sample) { check_rows(sample.in[0], 4, "boxes"); }
  void run(const Sample<ConvertBoxesArgs>& sample) const {
    const auto* extents = sample.in[1].as<int32_t>();
    const float height = static_cast<float>(extents[0]), width = static_cast<float>(extents[1]);
    const auto& args = sample.args;
    for (int64_t row = 0; row < sample.in[0].shape[0]; row++) {
      float box[4];
      std::copy_n(sample.in[0].as<float>() + 4 * row, 4, box);
      if (args.from_relative)
        for (int i = 0; i < 4; i++) box[i] *= i % 2 ? height : width;
      to_corners(args.from, box);
      from_corners(args.to, box);
      if (args.to_relative)
        for (int i = 0; i < 4; i++) box[i] /= i % 2 ? height : width;
      std::copy_n(box, 4, sample.out[0].as<float>() + 4 * row);
    }
  }
};

}  // namespace

AVIDA_OP_IN(scenes, convert_boxes, ConvertBoxesArgs) {
  using Args = ConvertBoxesArgs;
  op.doc("Converts boxes from one format to another.")
      .hidden()
      .input("boxes", "Rows of four numbers.")
      .input("extents", "Height and width of the images.")
      .arg("from", &Args::from, "What the numbers are.")
      .arg("to", &Args::to, "What they become.")
      .arg("from_relative", &Args::from_relative, "Whether they are shares of width and height.", fixed)
      .arg("to_relative", &Args::to_relative, "Whether they become such.", fixed)
      .infer([](Infer<Args>& call) {
        check_annotations(call.in[0], "boxes");
        if (call.in[1].dtype != DType::int32) refuse("expected extents of int32, got ", call.in[1].dtype);
      })
      .on_cpu()
      .each_sample<ConvertBoxesPlan>();
}

}  // namespace avida::ops
