// The types and ranks of a data set: those of its first sample that can be opened.
#pragma once
#include <algorithm>
#include <optional>

#include "readers/source.h"

namespace avida {

constexpr int64_t kMostBadSamples = 100;  // before giving up

// Calls fn(i) for the first samples until one does not throw, and returns its index. So one bad sample does not prevent
// reading the others.
template <class Fn>
int64_t find_first_sample(const Source& source, Fn&& fn) {
  std::optional<Error> problem;
  for (int64_t i = 0; i < std::min(source.size(), kMostBadSamples); i++) {
    try {
      fn(i);
      return i;
    } catch (const Error& error) {
      if (!problem) problem = Error(error.kind, str(source.name(), ": ", source.describe(i), ": ", error.message));
    }
  }
  if (!problem) refuse(source.name(), ": expected at least one sample, got none");
  throw *problem;
}

// Checks that all samples of a data set have the same type and rank.
inline void check_like_first(const Source& source, int64_t first, int output, DType dtype, const Shape& shape) {
  const Meta& meta = source.outputs()[output];
  if (dtype == meta.dtype && shape.size() == meta.ndim) return;
  auto axes = [](int n) { return str(n, n == 1 ? " axis" : " axes"); };
  refuse("expected ", meta.dtype, " with ", axes(meta.ndim), " as in ", source.describe(first), ", got ", dtype,
         " with ", axes(shape.size()));
}

}  // namespace avida
