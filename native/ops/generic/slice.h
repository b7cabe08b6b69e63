// The place of a slice's window: of the operator slice, and of decoders that cut while they decode.
#pragma once
#include "loops/moving/window.h"
#include "operator/declare.h"

namespace avida::ops {

struct SlicePlace {
  std::optional<Vec<int64_t>> axes, end, shape, start;
  std::optional<Layout> axis_names;
  bool normalized_anchor = true, normalized_shape = true;
  std::optional<Vec<float>> rel_end, rel_shape, rel_start;
};

// Checks what does not need the data; the second and third input may tell the place.
void check_slice_place(const SlicePlace& place, const Inference& call, int ndim, const Layout& layout);

// The window of a sample of that shape, which may reach beyond it.
Window slice_window(const SlicePlace& place, const SampleView& anchor, const SampleView& shape_input,
                    const Shape& shape, const Layout& layout);

template <class Args>
Op<Args>& slice_place_args(Op<Args>& op) {
  return op.optional_input("anchor", "Where the window starts; floats count in parts of the extent.")
      .on_host()
      .optional_input("shape_input", "The extents of the window; floats count in parts of the extent.")
      .on_host()
      .arg("axes", &Args::axes,
           "The axes that the other arguments are about; an empty list stands for all. By default W and H, as [1, 0].")
      .arg("axis_names", &Args::axis_names, "The same axes by their letters in the layout; by default \"WH\".")
      .arg("end", &Args::end, "Where the window ends.")
      .arg("normalized_anchor", &Args::normalized_anchor, "Whether a float anchor counts in parts of the extent.",
           fixed)
      .arg("normalized_shape", &Args::normalized_shape, "Whether a float shape input counts in parts of the extent.",
           fixed)
      .arg("rel_end", &Args::rel_end, "Where the window ends, in parts of the extent.")
      .arg("rel_shape", &Args::rel_shape, "The extents of the window, in parts of the sample's.")
      .arg("rel_start", &Args::rel_start, "Where the window starts, in parts of the extent.")
      .arg("shape", &Args::shape, "The extents of the window.")
      .arg("start", &Args::start, "Where the window starts; by default at 0.");
}

}  // namespace avida::ops
