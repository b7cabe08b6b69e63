// What users and the executor know about flip.
#include "ops/image/flip.h"

#include "op/each_element.h"
#include "op/op.h"
#include "op/strided_copy.h"

namespace avida::ops {
namespace {

// On a GPU it is a copy from strides that lead backwards.
void flip_rows(const SampleWork& work) {
  const auto& args = *static_cast<const FlipArgs*>(work.args);
  if (!work.launches) return each_element_rows<Flip>(args, work, "FDHWC");
  const SampleView& in = work.in[0];
  const int element_size = size_of(in.dtype);
  Shape strides = dense_strides(in.shape);
  int64_t first = 0;
  for (auto [axis, mirrored] : {std::pair('D', args.depthwise), {'H', args.vertical}, {'W', args.horizontal}})
    if (int d = in.layout.find(axis); d >= 0 && mirrored && in.shape[d] > 0) {
      first += (in.shape[d] - 1) * strides[d];
      strides[d] = -strides[d];
    }
  StridedCopy(element_size, in.shape, strides)
      .launch(*work.launches, work.out[0].data, in.as<char>() + first * element_size);
}

}  // namespace

AVIDA_OP(flip, FlipArgs) {
  op.doc("Mirrors images, videos or volumes along the chosen axes.")
      .input("input", "The samples to mirror.", {"FDHWC", "FHWC", "DHWC", "HWC", "FCDHW", "FCHW", "CDHW", "CHW"})
      .arg("depthwise", &FlipArgs::depthwise, "Mirror front to back (D).")
      .arg("horizontal", &FlipArgs::horizontal, "Mirror left to right (W).")
      .arg("vertical", &FlipArgs::vertical, "Mirror top to bottom (H).")
      .example("avida.flip(image, horizontal=0, vertical=1)")
      .loop({[](SampleWork& work) { work.out[0].shape = work.in[0].shape; },
             [](const SampleWork& work) { return each_element_row_count(work, "FDHWC"); }, flip_rows})
      .on_gpu()
      .chains();
}

}  // namespace avida::ops
