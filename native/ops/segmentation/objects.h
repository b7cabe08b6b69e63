// The objects of a mask: elements of one label that touch each other along an axis.
#pragma once
#include <vector>

#include "operator/sample.h"

namespace avida::ops {

struct Interval {
  int begin, end;

  int extent() const { return end - begin; }
};

// The labels of some objects and the boxes around them.
struct Objects {
  int rank;
  std::vector<int> labels;
  std::vector<Interval> bounds;  // for each object, one for each axis

  const Interval* box(int object) const { return bounds.data() + static_cast<size_t>(object) * rank; }
};

// The objects of all labels except `background`, in the order of their first elements. Extents have 32 bits.
Objects find_objects(const SampleView& mask, int background);

}  // namespace avida::ops
