#include "loops/neighbours/space.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace avida {
namespace {

struct Split {
  int before = 0, after = 0;  // axes that are not spatial
};

Split split_axes(int ndim, const Layout& layout) {
  Split split;
  if (!layout.empty()) {
    while (split.before < ndim && (layout[split.before] == 'F' || layout[split.before] == 'C')) split.before++;
    split.after = split.before < ndim && layout[ndim - 1] == 'C';
    for (int d = split.before; d < ndim - split.after; d++)
      if (layout[d] == 'F' || layout[d] == 'C')
        refuse("expected frames (F) first and channels (C) first or last, got the layout ", layout);
  }
  int axes = ndim - split.before - split.after;
  if (axes < 1 || axes > 3)
    refuse("expected one to three spatial axes, got ", axes, " in samples of ", ndim, " axes with the layout ", layout);
  return split;
}

}  // namespace

int spatial_axes(int ndim, const Layout& layout) {
  Split split = split_axes(ndim, layout);
  return ndim - split.before - split.after;
}

Space space_of(const Shape& shape, const Layout& layout) {
  Split split = split_axes(shape.size(), layout);
  Space space;
  space.axes = shape.size() - split.before - split.after;
  space.axes_before = split.before;
  for (int d = 0; d < split.before; d++) space.parts *= shape[d];
  if (split.before > 0 && layout[0] == 'F') space.frames = shape[0];
  for (int i = 0; i < space.axes; i++) space.size[space.first() + i] = shape[split.before + i];
  if (split.after) space.inner = shape[shape.size() - 1];
  return space;
}

DType filtered_dtype(DType asked, DType in) {
  if (asked == DType::none) return in;
  if (asked != in && asked != DType::float32)
    refuse("expected float32 or the input's element type ", in, " as dtype, got ", asked);
  return asked;
}

}  // namespace avida
