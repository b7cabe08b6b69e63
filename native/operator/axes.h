// Axes given by number or by letter.
#pragma once
#include <optional>

#include "operator/spec.h"

namespace avida {

// An axis of `ndim`, counted from the end when negative.
inline int resolve_axis(int64_t axis, int ndim) {
  if (axis < -ndim || axis >= ndim) refuse("expected an axis from ", -ndim, " to ", ndim - 1, ", got ", axis);
  return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

inline int named_axis(char name, const Layout& layout) {
  int axis = layout.find(name);
  if (axis < 0) refuse("there is no axis '", name, "' in the layout ", layout);
  return axis;
}

inline void check_distinct(const Vec<int>& axes) {
  for (int i = 0; i < axes.size(); i++)
    for (int k = 0; k < i; k++)
      if (axes[i] == axes[k]) refuse("axis ", axes[i], " is given twice");
}

// The axes of the argument that is given; an empty list if neither is.
inline Vec<int> resolve_axes(const std::optional<Vec<int64_t>>& axes, const std::optional<Layout>& names, int ndim,
                             const Layout& layout) {
  if (axes && names) refuse("expected \"axes\" or \"axis_names\", got both");
  Vec<int> found;
  if (axes)
    for (int64_t axis : *axes) found.push_back(resolve_axis(axis, ndim));
  if (names)
    for (char name : names->view()) found.push_back(named_axis(name, layout));
  check_distinct(found);
  return found;
}

}  // namespace avida
