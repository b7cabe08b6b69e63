// The objects of a mask: elements of one label that touch each other along an axis.
#pragma once
#include <cstdint>
#include <vector>

#include "op/sample.h"

namespace avida::ops {

struct Object {
  int label;
  Shape start, end;

  int64_t volume() const;
};

// The objects of all labels except `background`, in the order of their first elements.
std::vector<Object> find_objects(const SampleView& mask, int background);

}  // namespace avida::ops
