// Samples filled with one number, or with an array that is repeated and converted, on either device.
#pragma once
#include "operator/sample.h"

namespace avida {

// A row is a stretch of the output.
constexpr int64_t kFilledRow = 16 << 10;  // elements
inline int64_t filled_rows(const SampleView& out) { return (out.elements() + kFilledRow - 1) / kFilledRow; }

void fill_rows(const SampleView& out, int64_t begin, int64_t end, Launches* launches, int number);
// `from` as NumPy would broadcast it. Of axes that are too many in front, the first entry counts.
void broadcast_rows(const SampleView& out, int64_t begin, int64_t end, Launches* launches, SampleView from);

// Sets the output of a sample to one number.
template <class Work>
void fill(const Work& work, int number) {
  fill_rows(work.out[0], work.begin, work.end, work.launches, number);
}
// Sets the output of a sample to an array, repeated and converted.
template <class Work>
void broadcast(const Work& work, const SampleView& from) {
  broadcast_rows(work.out[0], work.begin, work.end, work.launches, from);
}

// Raises unless an array of the shape `from` can be repeated to `shape`.
void check_broadcast(const Shape& from, const Shape& shape);

}  // namespace avida
