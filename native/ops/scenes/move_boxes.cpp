// scenes.move_boxes: boxes around what their objects become.
#include <cmath>

#include "ops/scenes/annotations.h"

namespace avida::ops {
namespace {

bool keeps_axes(const Moves& moves) {
  const auto& m = moves.m;
  const bool affine = m[2][0] == 0 && m[2][1] == 0;
  return affine && ((m[0][1] == 0 && m[1][0] == 0) || (m[0][0] == 0 && m[1][1] == 0));
}

Around moved_corners(const Moves& moves, const float* box) {
  Around around;
  for (int corner = 0; corner < 4; corner++) around.add(moved(moves, box[corner & 1 ? 2 : 0], box[corner & 2 ? 3 : 1]));
  return around;
}

// Around the pixels of a mask: the first and the last one of each row have the outermost corners.
Around moved_mask(const Moves& moves, const uint8_t* mask, int64_t height, int64_t width) {
  Around around;
  for (int64_t y = 0; y < height; y++, mask += width) {
    const uint8_t* end = mask + width;
    const uint8_t* first = std::find_if(mask, end, [](uint8_t pixel) { return pixel != 0; });
    if (first == end) continue;
    while (!end[-1]) end--;
    for (const uint8_t* x : {first, end})
      for (int64_t row : {y, y + 1}) around.add(moved(moves, static_cast<double>(x - mask), static_cast<double>(row)));
  }
  return around;
}

class MoveBoxesPlan {
 public:
  explicit MoveBoxesPlan(const Sample<NoArgs>& sample) : boxes_(sample.in[0]) {
    check_rows(boxes_, 4, "boxes");
    const SampleView& masks = sample.in[2];
    if (masks.data && (masks.ndim() != 3 || masks.shape[0] != boxes_.shape[0]))
      refuse("expected ", boxes_.shape[0], " masks, one for each box, got the shape ", masks.shape);
  }

  Shape shape() const { return boxes_.shape; }
  int64_t rows() const { return boxes_.shape[0]; }
  void run(const Sample<NoArgs>& sample) const {
    const Moves moves = moves_in(sample.in[1]);
    for (int64_t i = sample.begin; i < sample.end; i++)
      around(moves, sample.in[2], i).store(sample.out[0].as<float>() + 4 * i);
  }

 private:
  Around around(const Moves& moves, const SampleView& masks, int64_t i) const {
    const float* box = boxes_.as<float>() + 4 * i;
    if (masks.data && !keeps_axes(moves)) {
      const int64_t height = masks.shape[1], width = masks.shape[2];
      const bool inside =
          box[0] >= 0 && box[1] >= 0 && box[2] <= static_cast<float>(width) && box[3] <= static_cast<float>(height);
      if (inside) {
        const Around tight = moved_mask(moves, masks.as<uint8_t>() + i * height * width, height, width);
        if (tight.left <= tight.right) return tight;
      }
    }
    return moved_corners(moves, box);
  }

  const SampleView& boxes_;
};

}  // namespace

AVIDA_OP_IN(scenes, move_boxes, NoArgs) {
  op.doc("Moves boxes by a matrix.")
      .hidden()
      .input("boxes", "Rows of left, top, right, bottom.")
      .input("matrix", "Where positions go.")
      .optional_input("masks", "The masks of the objects, for tight boxes.")
      .infer([](Infer<NoArgs>& call) {
        check_annotations(call.in[0], "boxes");
        check_matrix(call.in[1]);
        if (call.in[2].dtype != DType::none && call.in[2].dtype != DType::uint8)
          refuse("expected masks of uint8, got ", call.in[2].dtype);
      })
      .on_cpu()
      .each_sample<MoveBoxesPlan>()
      .cost(8);
}

}  // namespace avida::ops
